//! `nearside run`: classify photos or single raw frames.

use crate::args::RunArgs;
use crate::error::{Error, Result};
use crate::{regular, stdout, table};
use nearside_pipeline::{Classification, Image, Model};
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
struct Document<'a> {
    model: &'a str,
    variant: &'a str,
    results: Vec<ImageResult>,
}

#[derive(Serialize)]
struct ImageResult {
    image: String,
    labels: Vec<LabelResult>,
    timings_ms: Timings,
}

#[derive(Serialize)]
struct LabelResult {
    index: u32,
    name: String,
    score: f32,
}

#[derive(Serialize)]
struct Timings {
    load: f64,
    decode: f64,
    preprocess: f64,
    inference: f64,
}

pub(crate) fn run(args: &RunArgs) -> Result<()> {
    if args.frame.raw().is_none() {
        args.frame.require_none_for_photos()?;
    }
    let model = Model::open(&args.model.package, args.model.options()?)?;
    let mut results = Vec::new();
    for image in &args.images {
        match classify(&model, args, image) {
            Ok(classification) => results.push(result(&model, image, classification)),
            // One bad image must not cost the others.
            Err(error) => error.print(),
        }
    }
    let failed = args.images.len() - results.len();
    let info = model.info();
    let document = Document { model: &info.name, variant: &info.variant, results };
    let written = if args.model.json { stdout::json(&document) } else { stdout::write(&text(&document)) };
    if failed > 0 { Err(Error::SomeFailed { failed, all: args.images.len() }) } else { written }
}

fn classify(model: &Model, args: &RunArgs, path: &Path) -> Result<Classification> {
    let at = |source| Error::Pipeline { place: Some(path.display().to_string()), source };
    let Some(raw) = args.frame.raw() else {
        return model.classify(Image::Path(path.to_owned()), args.model.top).map_err(at);
    };
    let read = |source| Error::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    // No more than a frame, however long the file is.
    regular::open(path)?.take(raw.frame_bytes() as u64).read_to_end(&mut bytes).map_err(read)?;
    let frame = args.frame.apply(raw.frame(&bytes).map_err(at)?);
    model.classify_frame(&frame, args.model.top).map_err(at)
}

fn result(model: &Model, image: &Path, classification: Classification) -> ImageResult {
    let ms = |duration: Duration| duration.as_secs_f64() * 1000.0;
    let timings = classification.timings;
    ImageResult {
        image: image.display().to_string(),
        labels: classification
            .labels
            .into_iter()
            .map(|label| LabelResult { index: label.index, name: label.name.to_string(), score: label.score })
            .collect(),
        timings_ms: Timings {
            load: ms(model.info().load),
            decode: ms(timings.decode),
            preprocess: ms(timings.preprocess),
            inference: ms(timings.inference),
        },
    }
}

fn text(document: &Document<'_>) -> String {
    let mut text = format!("{} ({})\n", document.model, document.variant);
    for result in &document.results {
        let timings = &result.timings_ms;
        let _ = writeln!(
            text,
            "\n{}   decode {} ms, preprocess {} ms, inference {} ms",
            result.image,
            table::ms(timings.decode),
            table::ms(timings.preprocess),
            table::ms(timings.inference)
        );
        for label in &result.labels {
            let _ = writeln!(text, "  {:6.2} %  {} ({})", label.score * 100.0, label.name, label.index);
        }
    }
    text
}
