//! Prints how long it takes to decode photos and to make 512x512 tensors of them, in full and reduced:
//! `cargo run --release -p nearside-vision --example photo_time -- PHOTO…`.

use std::time::Instant;

use nearside_vision::{Filter, Fit, ImageSpec, Photo, PhotoOptions, Preprocessor, Result};

const RUNS: usize = 15;

fn main() -> Result<()> {
    for path in std::env::args_os().skip(1) {
        let bytes = std::fs::read(&path).expect("a file that can be read");
        for at_least in [None, Some((512, 512))] {
            let options = PhotoOptions { at_least, ..PhotoOptions::default() };
            let photo = Photo::decode_with(&bytes, &options)?;
            let decode = median(|| Photo::decode_with(&bytes, &options).map(drop))?;
            let spec = ImageSpec { fit: Fit::Stretch, filter: Filter::Bilinear, ..ImageSpec::new(512, 512) };
            let mut preprocessor = Preprocessor::new(spec)?;
            let mut out = vec![0.0; preprocessor.output_len()];
            let both = median(|| preprocessor.run(&Photo::decode_with(&bytes, &options)?.frame(), &mut out))?;
            println!(
                "{} at {}x{}: decode {decode:.1} ms, to a tensor {both:.1} ms",
                path.display(),
                photo.width(),
                photo.height()
            );
        }
    }
    Ok(())
}

/// The median time of a run in milliseconds.
fn median(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[RUNS / 2].as_secs_f64() * 1e3)
}
