//! `nearside`: inspect and run model packages from a desktop.
//!
//! Results go to stdout, messages to stderr. The exit code is 0, 1 if the work failed, 2 if the command line is wrong.

mod answer;
mod args;
mod bench;
mod call;
mod camera;
mod chat;
mod clip;
mod delegate_options;
mod error;
mod generate;
mod input;
mod inspect;
mod profile;
mod regular;
mod run;
mod stdout;
mod subject;
mod table;
mod text_args;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Run(args) => run::run(&args),
        Command::Call(args) => call::call(&args),
        Command::Profile(args) => profile::profile(&args),
        Command::Camera(args) => camera::camera(&args),
        Command::Generate(args) => generate::generate(&args),
        Command::Chat(args) => chat::chat(&args),
        Command::Bench(args) => bench::bench(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error.print();
            error.exit_code()
        }
    }
}
