//! `nearside camera`: play a clip through the camera pipeline at its pace.

use crate::args::CameraArgs;
use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::stdout;
use crate::table::{self, Table};
use nearside_pipeline::{Camera, CameraConfig, CameraEvent, CameraStats, Model, Percentiles};
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const DEFAULT_FPS: f64 = 30.0;

#[derive(Serialize)]
struct Document {
    offered: u64,
    delivered: u64,
    replaced: u64,
    failed: u64,
    /// `null` if nothing was delivered.
    latency_ms: Option<Latency>,
}

#[derive(Serialize)]
struct Latency {
    decode: PercentilesMs,
    inference: PercentilesMs,
    end_to_end: PercentilesMs,
}

#[derive(Serialize)]
struct PercentilesMs {
    p50: f64,
    p95: f64,
    p99: f64,
}

/// The same best label over consecutive delivered frames.
struct Run {
    first_frame: u64,
    last_frame: u64,
    name: Arc<str>,
    best_score: f32,
}

pub(crate) fn camera(args: &CameraArgs) -> Result<()> {
    let mut clip = Clip::open(&args.clip, &args.frame)?;
    let model = Model::open(&args.model.package, args.model.options()?)?;
    let fps = args.fps.or(clip.fps).unwrap_or(DEFAULT_FPS);
    let config = CameraConfig { policy: args.policy.into(), top: args.model.top, on_ready: None };
    let camera = Camera::open(&model, config)?;
    let (played, runs) = thread::scope(|scope| {
        let taking = scope.spawn(|| take(&camera));
        let played = play(&mut clip, &camera, args, fps);
        camera.finish();
        (played, taking.join().unwrap_or_default())
    });
    let stats = camera.close();
    let written = if args.model.json {
        stdout::json(&document(&stats))
    } else {
        stdout::write(&text(&model, args, fps, &stats, &runs))
    };
    // After the result: a clip that breaks off must not cost what was seen before.
    played?;
    if stats.failed > 0 {
        return Err(Error::SomeFailed { failed: stats.failed as usize, all: stats.offered as usize });
    }
    written
}

/// Offers the clip's frames when they are due. A frame that is refused is counted by the camera and the clip goes on.
fn play(clip: &mut Clip, camera: &Camera, args: &CameraArgs, fps: f64) -> Result<()> {
    let started = Instant::now();
    let mut number = 0u64;
    loop {
        let due = Duration::try_from_secs_f64(number as f64 / fps).unwrap_or(Duration::MAX);
        let more = clip.next(|frame| {
            thread::sleep(due.saturating_sub(started.elapsed()));
            let timestamp_ns = i64::try_from(due.as_nanos()).unwrap_or(i64::MAX);
            let frame = nearside_pipeline::vision::Frame { timestamp_ns, ..args.frame.apply(frame) };
            if let Err(error) = camera.offer(&frame) {
                Error::Pipeline { place: Some(format!("frame {number}")), source: error }.print();
            }
            Ok(())
        })?;
        if !more {
            return Ok(());
        }
        number += 1;
    }
}

/// Takes events until there are no more, and gathers what was seen.
fn take(camera: &Camera) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    while let Some(event) = camera.next() {
        match event {
            CameraEvent::Classified(found) => {
                if let Some(best) = found.labels.first() {
                    match runs.last_mut() {
                        Some(run) if run.name == best.name => {
                            run.last_frame = found.frame;
                            run.best_score = run.best_score.max(best.score);
                        }
                        _ => runs.push(Run {
                            first_frame: found.frame,
                            last_frame: found.frame,
                            name: Arc::clone(&best.name),
                            best_score: best.score,
                        }),
                    }
                }
                camera.recycle(found.labels);
            }
            CameraEvent::Failed { frame, error, .. } => {
                Error::Pipeline { place: Some(format!("frame {frame}")), source: error }.print();
            }
        }
    }
    runs
}

fn document(stats: &CameraStats) -> Document {
    let ms = |percentiles: Percentiles| PercentilesMs {
        p50: percentiles.p50,
        p95: percentiles.p95,
        p99: percentiles.p99,
    };
    Document {
        offered: stats.offered,
        delivered: stats.delivered,
        replaced: stats.replaced,
        failed: stats.failed,
        latency_ms: stats.latency.map(|latency| Latency {
            decode: ms(latency.decode),
            inference: ms(latency.inference),
            end_to_end: ms(latency.end_to_end),
        }),
    }
}

fn text(model: &Model, args: &CameraArgs, fps: f64, stats: &CameraStats, runs: &[Run]) -> String {
    let info = model.info();
    let mut text = format!("{} ({}), {} at {fps} frames/s\n\n", info.name, info.variant, args.clip.display());
    for run in runs {
        let _ = writeln!(
            text,
            "  frames {:>4} to {:>4}  {:6.2} %  {}",
            run.first_frame,
            run.last_frame,
            run.best_score * 100.0,
            run.name
        );
    }
    let _ = writeln!(
        text,
        "\n{} frames offered, {} processed, {} dropped for a newer one, {} failed",
        stats.offered, stats.delivered, stats.replaced, stats.failed
    );
    let Some(latency) = &stats.latency else { return text };
    let mut table = Table::new(&["stage", "p50 ms", "p95 ms", "p99 ms"]);
    for (stage, percentiles) in [
        ("capture (copy)", latency.capture),
        ("wait for decode", latency.decode_wait),
        ("decode", latency.decode),
        ("wait for inference", latency.inference_wait),
        ("inference", latency.inference),
        ("delivery", latency.delivery),
        ("end to end", latency.end_to_end),
    ] {
        table.row(vec![
            stage.to_owned(),
            table::ms(percentiles.p50),
            table::ms(percentiles.p95),
            table::ms(percentiles.p99),
        ]);
    }
    let _ = write!(text, "\n{}", table.render());
    text
}
