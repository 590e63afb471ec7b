//! Sets a machine up: what is missing is installed or fetched, what is there is left alone.

pub(crate) mod apt;
pub(crate) mod arm64;
pub(crate) mod executorch;
pub(crate) mod host;
pub(crate) mod java;
pub(crate) mod maven;
pub(crate) mod pins;
pub(crate) mod python;
pub(crate) mod swift;
pub(crate) mod tools;
pub(crate) mod vendors;
pub(crate) mod wheels;

use crate::cache::Cache;
use anyhow::{Context as _, Error, Result, anyhow, bail};
use host::Host;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::Tool;

/// What every duty needs to know.
pub(crate) struct Context {
    pub(crate) cache: Cache,
    pub(crate) host: Host,
    /// The checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
}

impl Context {
    /// Looks around.
    pub(crate) fn new() -> Result<Self> {
        // Asked at run time too: a binary in a shared target folder may have been built for another checkout.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR");
        let xtask = manifest.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = xtask.parent().context("xtask has no parent folder")?.to_owned();
        // This program is TARGET/PROFILE/xtask.
        let program = std::env::current_exe()?;
        let target = program.ancestors().nth(2).map(Path::to_owned).context("no target folder")?;
        Ok(Self { cache: Cache::open()?, host: Host::detect(), root, target })
    }

    /// The Cargo that runs this.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // Set for this program by the Cargo that started it; of no use to another package's build.
        command.env_remove("CARGO_MANIFEST_DIR");
        command
    }

    /// Where Cargo puts libraries and programs of a development build.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.target.join("debug")
    }

    /// The library that the bindings load.
    pub(crate) fn library(&self) -> PathBuf {
        self.libraries().join(format!("{DLL_PREFIX}nearside{DLL_SUFFIX}"))
    }
}

/// A part of set-up that can be asked for alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Compiler,
    ExecuTorch,
    Python,
    Kotlin,
    Swift,
    Vendors,
    Arm64,
}

impl Part {
    pub(crate) const ALL: [Self; 7] = [
        Self::Compiler,
        Self::ExecuTorch,
        Self::Python,
        Self::Kotlin,
        Self::Swift,
        Self::Vendors,
        Self::Arm64,
    ];
    /// All but what only some tests need.
    pub(crate) const LINT: [Self; 5] =
        [Self::Compiler, Self::ExecuTorch, Self::Python, Self::Kotlin, Self::Swift];
    /// What the demo needs.
    pub(crate) const DEMO: [Self; 2] = [Self::Compiler, Self::ExecuTorch];

    /// Whether there is such a thing for this machine.
    pub(crate) fn exists_for(self, host: &Host) -> bool {
        match self {
            Self::Vendors => vendors::exist_for(host),
            Self::Arm64 => arm64::exists_for(host),
            _ => true,
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Compiler => "compiler",
            Self::ExecuTorch => "executorch",
            Self::Python => "python",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
            Self::Vendors => "vendors",
            Self::Arm64 => "arm64",
        }
    }

    fn tools(self, ctx: &Context) -> &'static [Tool] {
        match self {
            Self::Compiler => &[Tool::Cxx],
            Self::ExecuTorch if executorch::present(ctx) => &[],
            Self::ExecuTorch | Self::Python | Self::Vendors => &[Tool::Python],
            Self::Kotlin => &[Tool::Jdk, Tool::Maven],
            Self::Swift => swift::Swift::of(ctx).tools(),
            Self::Arm64 => &[Tool::CrossCxx, Tool::Qemu],
        }
    }

    fn ensure(self, ctx: &Context) -> Result<()> {
        match self {
            Self::Compiler => Ok(()),
            Self::ExecuTorch => executorch::ensure(ctx),
            Self::Python => python::EXPORT.ensure(ctx),
            Self::Kotlin => maven::ensure(ctx),
            Self::Swift => swift::ensure(ctx),
            Self::Vendors => vendors::ensure(ctx),
            Self::Arm64 => arm64::ensure(ctx),
        }
    }
}

/// How set-up went.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Whether the machine has the programs that all parts need, else the one line that brings them.
    pub(crate) machine: Option<Error>,
    /// Each part by itself.
    pub(crate) parts: Vec<(Part, Result<()>)>,
}

/// Sets up `parts` one after another; one that fails does not stop the others.
pub(crate) fn run(ctx: &Context, parts: &[Part]) -> Result<Outcome> {
    let _lock = ctx.cache.lock()?;
    let mut tools: Vec<Tool> = parts.iter().flat_map(|part| part.tools(ctx)).copied().collect();
    tools.dedup();
    // All at once, so that a person who must do it has one line to run.
    let machine = tools::ensure(&ctx.cache, &ctx.host, &tools).err();
    let one = |part: Part| match tools::missing(part.tools(ctx)) {
        Some(tools) => Err(anyhow!("this machine lacks {tools}")),
        None => part.ensure(ctx),
    };
    Ok(Outcome { machine, parts: parts.iter().map(|&part| (part, one(part))).collect() })
}

/// Sets up `parts`; an error if any of them failed.
pub(crate) fn require(ctx: &Context, parts: &[Part]) -> Result<()> {
    let outcome = run(ctx, parts)?;
    let machine = outcome.machine.map(|error| format!("{error:#}"));
    let parts = outcome.parts.into_iter().filter_map(|(part, result)| {
        let error = result.err()?;
        Some(format!("{}: {error:#}", part.name()))
    });
    let failed: Vec<String> = parts.chain(machine).collect();
    if failed.is_empty() { Ok(()) } else { bail!("set-up is not complete\n{}", failed.join("\n")) }
}

/// Rewrites the locks of what is fetched.
pub(crate) fn update_locks(ctx: &Context) -> Result<()> {
    let _lock = ctx.cache.lock()?;
    tools::ensure(&ctx.cache, &ctx.host, Part::Kotlin.tools(ctx))?;
    maven::update_lock(ctx)
}
