//! Prints how long preprocessing takes: `cargo run --release -p nearside-vision --example preprocess_time`.

use std::time::Instant;

use nearside_vision::{Filter, Fit, Frame, FrameBuffer, ImageSpec, Preprocessor, Rotation};

const RUNS: usize = 200;

fn main() -> nearside_vision::Result<()> {
    for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
        let pixels: Vec<u8> = (0..width * height * 4).map(|at| (at * 7 % 251) as u8).collect();
        let nv12 = Frame::nv12(&pixels, width, height, None)?;
        let turned = Frame { rotation: Rotation::R90, mirror: true, ..nv12 };
        let frames = [
            ("NV12", nv12),
            ("NV12, turned", turned),
            ("I420", Frame::i420(&pixels, width, height, None)?),
            ("RGBA", Frame::rgba(&pixels, width, height, None)?),
        ];
        for (name, frame) in frames {
            for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
                for fit in [Fit::Stretch, Fit::CenterCrop { fraction: 0.875 }] {
                    let ms = time(ImageSpec { fit, filter, ..ImageSpec::new(224, 224) }, &frame)?;
                    println!("{width}x{height} {name} -> 224, {filter:?}, {fit:?}: {ms:.2} ms");
                }
            }
        }
        let mut buffer = FrameBuffer::new();
        let ms = median(|| buffer.copy_from(&nv12))?;
        println!("{width}x{height} NV12, copied to a frame buffer: {ms:.3} ms");
    }
    Ok(())
}

fn time(spec: ImageSpec, frame: &Frame<'_>) -> nearside_vision::Result<f64> {
    let mut preprocessor = Preprocessor::new(spec)?;
    let mut out = vec![0.0; preprocessor.output_len()];
    median(|| preprocessor.run(frame, &mut out))
}

/// The median time of a run in milliseconds.
fn median(mut work: impl FnMut() -> nearside_vision::Result<()>) -> nearside_vision::Result<f64> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[RUNS / 2].as_secs_f64() * 1e3)
}
