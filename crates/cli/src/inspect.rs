//! `nearside inspect`: what a package or a program holds.

use crate::args::InspectArgs;
use crate::error::Result;
use crate::{stdout, table};
use nearside_pipeline::Package;
use nearside_pipeline::package::manifest::Manifest;
use nearside_pipeline::runtime::delegate::{Availability, availability};
use nearside_pipeline::runtime::{LoadMode, MethodMeta, Program, ValueMeta};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct PackageDocument<'a> {
    manifest: &'a Manifest,
    programs: Vec<ProgramDocument>,
}

#[derive(Serialize)]
struct ProgramDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    file: String,
    methods: Vec<MethodDocument>,
}

#[derive(Serialize)]
struct MethodDocument {
    name: String,
    inputs: Vec<ValueDocument>,
    outputs: Vec<ValueDocument>,
    planned_bytes: Vec<u64>,
    delegates: Vec<DelegateDocument>,
    instructions: usize,
}

#[derive(Serialize)]
struct DelegateDocument {
    name: String,
    /// Linked into this build and able to run here.
    available: bool,
}

#[derive(Serialize)]
struct ValueDocument {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_planned: Option<bool>,
}

pub(crate) fn inspect(args: &InspectArgs) -> Result<()> {
    if is_package(&args.path) {
        return inspect_package(args);
    }
    let program = program(&Program::open(&args.path, LoadMode::Mmap)?, None)?;
    if args.json { stdout::json(&program) } else { stdout::write(&program_text(&program)) }
}

/// A folder is a package; what is missing is reported as one too, unless it is named like a program.
pub(crate) fn is_package(path: &Path) -> bool {
    path.is_dir() || (!path.exists() && path.extension().is_none_or(|end| end != "pte"))
}

fn inspect_package(args: &InspectArgs) -> Result<()> {
    let package = Package::open(&args.path)?;
    let manifest = package.manifest();
    let mut programs = Vec::new();
    for variant in &manifest.variants {
        let opened = Program::open(package.program(variant)?, LoadMode::Mmap)?;
        programs.push(program(&opened, Some(variant.name.clone()))?);
    }
    let document = PackageDocument { manifest, programs };
    if args.json { stdout::json(&document) } else { stdout::write(&package_text(&package, &document)) }
}

fn program(program: &Program, variant: Option<String>) -> Result<ProgramDocument> {
    let available = |name: &str| availability(name) == Availability::Available;
    let method = |name: &String| -> Result<MethodDocument> {
        let MethodMeta { name, inputs, outputs, planned_bytes, delegates, instructions } =
            program.method_meta(name)?.clone();
        Ok(MethodDocument {
            name,
            inputs: inputs.iter().map(value).collect(),
            outputs: outputs.iter().map(value).collect(),
            planned_bytes,
            delegates: delegates
                .into_iter()
                .map(|name| DelegateDocument { available: available(&name), name })
                .collect(),
            instructions,
        })
    };
    let methods = program.method_names().iter().map(method).collect::<Result<_>>()?;
    Ok(ProgramDocument { variant, file: program.name().to_owned(), methods })
}

fn value(value: &ValueMeta) -> ValueDocument {
    match value {
        ValueMeta::Tensor(tensor) => ValueDocument {
            kind: "Tensor".into(),
            name: (!tensor.name.is_empty()).then(|| tensor.name.clone()),
            dtype: Some(tensor.dtype.to_string()),
            shape: Some(tensor.sizes.clone()),
            memory_planned: Some(tensor.memory_planned),
        },
        ValueMeta::Other(kind) => {
            ValueDocument { kind: (*kind).into(), name: None, dtype: None, shape: None, memory_planned: None }
        }
    }
}

fn package_text(package: &Package, document: &PackageDocument<'_>) -> String {
    let manifest = document.manifest;
    let image = &manifest.image;
    let mut text = format!("{}\n", manifest.name);
    text += &table::facts(&[
        ("task", format!("{:?}", manifest.task).to_lowercase()),
        ("licence", manifest.licence.clone()),
        ("source", manifest.source.clone()),
        (
            "image",
            format!(
                "{}x{}, {:?}, {:?}, {:?}",
                image.width, image.height, image.fit, image.filter, image.layout
            ),
        ),
        ("labels", package.labels().len().to_string()),
    ]);
    for (variant, program) in manifest.variants.iter().zip(&document.programs) {
        let quality = &variant.quality;
        let _ = writeln!(text, "\nvariant {}", variant.name);
        text += &table::facts(&[
            ("bytes", variant.program.bytes.to_string()),
            ("quantisation", variant.quantisation.clone()),
            ("coverage", format!("{:.1} % of the operator calls are in delegates", variant.coverage * 100.0)),
            ("portable", list(&variant.operators)),
            (
                "quality",
                format!(
                    "{:.1} % top-1 agreement with fp32 over {} images, logits {:.1} dB",
                    quality.top1_agreement * 100.0,
                    quality.images,
                    quality.logit_sqnr_db
                ),
            ),
            ("exported by", format!("ExecuTorch {}, torch {}", variant.executorch, variant.torch)),
        ]);
        text += &methods_text(program);
    }
    text
}

fn program_text(program: &ProgramDocument) -> String {
    format!("{}\n{}", program.file, methods_text(program))
}

fn methods_text(program: &ProgramDocument) -> String {
    let mut text = String::new();
    for method in &program.methods {
        let delegates: Vec<_> = method
            .delegates
            .iter()
            .map(|delegate| {
                if delegate.available {
                    delegate.name.clone()
                } else {
                    format!("{} (not here)", delegate.name)
                }
            })
            .collect();
        let _ = writeln!(text, "  method {}", method.name);
        text += &table::facts(&[
            ("  inputs", values_text(&method.inputs)),
            ("  outputs", values_text(&method.outputs)),
            ("  planned bytes", method.planned_bytes.iter().sum::<u64>().to_string()),
            ("  delegates", list(&delegates)),
            ("  instructions", method.instructions.to_string()),
        ]);
    }
    text
}

fn values_text(values: &[ValueDocument]) -> String {
    let texts: Vec<_> = values
        .iter()
        .map(|value| match (&value.dtype, &value.shape) {
            (Some(dtype), Some(shape)) => format!("{dtype} {shape:?}"),
            _ => value.kind.clone(),
        })
        .collect();
    list(&texts)
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
