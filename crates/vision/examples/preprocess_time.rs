//! Prints how long preprocessing takes with each instruction set: `cargo run --release -p nearside-vision --example
//! preprocess_time`.

use std::time::Instant;

use nearside_vision::{Channels, Filter, Fit, Frame, ImageSpec, InstructionSet, Preprocessor, Rotation};

const RUNS: usize = 100;

fn main() -> nearside_vision::Result<()> {
    let pixels = vec![100; 1920 * 1080 * 3 / 2];
    let nv12 = Frame::nv12(&pixels, 1920, 1080, None)?;
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let mut preprocessor = Preprocessor::new(ImageSpec::pixels(1920, 1080, Channels::Rgba))?;
        preprocessor.set_instruction_set(set);
        let mut out = vec![0_u8; preprocessor.output_len()];
        let ms = median(50, || preprocessor.run(&nv12, &mut out))?;
        println!("1920x1080 NV12 -> RGBA: {set:?} {ms:.3} ms");
    }
    let cases = [(640, 480, 224), (1920, 1080, 224), (3840, 2160, 896)];
    for (width, height, side) in cases {
        let pixels: Vec<u8> = (0..width * height * 4).map(|at| (at * 7 % 251) as u8).collect();
        let nv12 = Frame::nv12(&pixels, width, height, None)?;
        let i420 = Frame::i420(&pixels, width, height, None)?;
        let frames = [
            ("NV12", nv12),
            ("NV12, turned", Frame { rotation: Rotation::R90, mirror: true, ..nv12 }),
            ("I420", i420),
            ("I420, turned", Frame { rotation: Rotation::R90, mirror: true, ..i420 }),
            ("RGB", Frame::rgb(&pixels, width, height, None)?),
            ("BGRA", Frame::bgra(&pixels, width, height, None)?),
        ];
        for (name, frame) in
            frames.into_iter().filter(|f| std::env::args().nth(1).is_none_or(|only| f.0 == only))
        {
            for filter in
                [Filter::Bilinear, Filter::BilinearAntialias, Filter::BicubicAntialias, Filter::Area]
            {
                let spec =
                    ImageSpec { fit: Fit::Letterbox { pad: [0; 3] }, filter, ..ImageSpec::new(side, side) };
                print!("{width}x{height} {name} -> {side}, {filter:?}:");
                for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                    let mut preprocessor = Preprocessor::new(spec)?;
                    preprocessor.set_instruction_set(set);
                    let mut out = vec![0.0; preprocessor.output_len()];
                    let runs = if set == InstructionSet::Scalar { RUNS / 20 } else { RUNS };
                    print!(" {set:?} {:.3} ms", median(runs, || preprocessor.run(&frame, &mut out))?);
                }
                println!();
            }
        }
    }
    Ok(())
}

/// The median time of a run in milliseconds.
fn median(
    runs: usize,
    mut work: impl FnMut() -> nearside_vision::Result<()>,
) -> nearside_vision::Result<f64> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[runs / 2].as_secs_f64() * 1e3)
}
