//! `cargo xtask models`: packages made of pinned weights, outside of the checkout unless told otherwise.

mod catalogue;
mod exporter;
mod weights;

use crate::progress::{self, seconds};
use crate::setup::{self, Context, Part};
use anyhow::Result;
use catalogue::{MODELS, Model, Task};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What to make, from the command line.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) names: Vec<String>,
    pub(crate) all: bool,
    /// Where packages go instead of the cache.
    pub(crate) out: Option<PathBuf>,
}

/// Makes the packages of the models that are named, or lists the models if none is; true if all were made.
pub(crate) fn run(ctx: &Context, options: &Options) -> Result<bool> {
    let models = if options.all { MODELS.iter().collect() } else { catalogue::find(&options.names)? };
    let out = match &options.out {
        Some(out) => std::path::absolute(out)?,
        None => ctx.cache.path("models"),
    };
    if models.is_empty() {
        println!("{}\nPackages go to {}, or where --out says.", catalogue::list(), out.display());
        return Ok(true);
    }
    // The compiler and ExecuTorch for the command that measures programs of our own operators.
    setup::require(ctx, &[Part::Compiler, Part::ExecuTorch, Part::Python])?;
    let mut failed = Vec::new();
    for model in models {
        failed.extend(make(ctx, model, &out));
    }
    if failed.is_empty() {
        eprintln!("the packages are in {}", out.display());
    } else {
        eprintln!("not made: {}", failed.join(", "));
    }
    Ok(failed.is_empty())
}

/// The weights of the model `name`, fetched if need be: a file that stays.
pub(crate) fn weights_of(ctx: &Context, name: &str) -> Result<OsString> {
    Ok(weights::ensure(ctx, catalogue::find(&[name.to_owned()])?[0])?.source)
}

/// The package of a model's variant in the cache, which is made unless it is there.
pub(crate) fn package_of(ctx: &Context, name: &str, variant: &str) -> Result<PathBuf> {
    let out = ctx.cache.path("models");
    let folder = out.join(format!("{}.nearside", package(name, variant)));
    if !folder.join("manifest.json").is_file() {
        let model = catalogue::find(&[name.to_owned()])?[0];
        let source = weights::ensure(ctx, model)?.source;
        export(ctx, model, variant, source, &out)?;
    }
    Ok(folder)
}

/// Makes the packages of a model, and gives the names of those that failed.
fn make(ctx: &Context, model: &Model, out: &Path) -> Vec<String> {
    let weights = match weights::ensure(ctx, model) {
        Ok(weights) => weights,
        Err(error) => {
            eprintln!("==> {}: no weights: {error:#}", model.name);
            return vec![model.name.to_owned()];
        }
    };
    let made = |variant: &&str| {
        let since = Instant::now();
        eprintln!("==> {} {variant} ...", model.name);
        let result = export(ctx, model, variant, weights.source.clone(), out);
        let took = seconds(since.elapsed());
        match &result {
            Ok(()) => eprintln!("==> {} {variant} done in {took}", model.name),
            Err(error) => eprintln!("==> {} {variant} failed in {took}: {error:#}", model.name),
        }
        result.is_ok()
    };
    let failed = model.variants.iter().copied().filter(|variant| !made(variant));
    failed.map(|variant| format!("{} {variant}", model.name)).collect()
}

/// Exports one package.
fn export(ctx: &Context, model: &Model, variant: &str, source: OsString, out: &Path) -> Result<()> {
    let arguments = arguments(model, variant, source, out);
    if !has_own_operators(variant) {
        return exporter::run(ctx, &arguments);
    }
    exporter::run_with(ctx, &arguments, Some(&nearside(ctx)?))
}

/// The command `nearside`, as apps would build it.
pub(crate) fn nearside(ctx: &Context) -> Result<PathBuf> {
    progress::step(&ctx.cache, "Build the command `nearside`", |step| {
        step.run(ctx.cargo().args(["build", "--release", "--package", "nearside-cli"]))
    })?;
    Ok(ctx.target.join("release/nearside"))
}

/// Whether a variant runs on operators of ours, which are measured by the command `nearside`.
fn has_own_operators(variant: &str) -> bool {
    variant.starts_with("nearside-")
}

/// The command that exports one package.
fn arguments(model: &Model, variant: &str, source: OsString, out: &Path) -> Vec<OsString> {
    let mut all = vec![model.task.command().into(), source, "--variant".into(), variant.into()];
    if matches!(model.task, Task::Generate | Task::Describe) {
        all.extend(["--name".into(), package(model.name, variant).into()]);
    }
    if has_own_operators(variant) {
        // All that SmolLM2 can have: a KV cache of bytes is small enough for it.
        all.extend(["--context".into(), "2048".into()]);
    }
    all.extend(["--out".into(), out.into()]);
    all
}

/// The name of a package that has one of a model's variants, or several. The exporter tells fp32 apart by itself.
fn package(name: &str, variant: &str) -> String {
    match variant {
        "fp32" => name.to_owned(),
        several if several.contains(',') => name.to_owned(),
        _ => format!("{name}-{variant}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_variants_of_a_model_never_go_to_the_same_package() {
        for model in &MODELS {
            let mut targets: Vec<_> = model
                .variants
                .iter()
                .map(|variant| arguments(model, variant, "SOURCE".into(), Path::new("OUT")))
                .collect();
            targets.sort();
            targets.dedup();
            assert_eq!(targets.len(), model.variants.len(), "{}", model.name);
        }
    }

    #[test]
    fn a_language_model_is_named_with_its_variant() {
        let model = catalogue::find(&["smollm2-135m-instruct".to_owned()]).unwrap()[0];
        let words = arguments(model, "8da4w", "W.gguf".into(), Path::new("OUT"));
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        let expected = "generate W.gguf --variant 8da4w --name smollm2-135m-instruct-8da4w --out OUT";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_package_of_several_variants_has_the_models_name() {
        let model = catalogue::find(&["llama-tiny".to_owned()]).unwrap()[0];
        let words = arguments(model, model.variants[0], "FOLDER".into(), Path::new("OUT"));
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" "), "generate FOLDER --variant fp32,8da4w --name llama-tiny --out OUT");
    }
}
