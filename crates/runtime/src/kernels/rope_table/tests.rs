//! Calls as C++ hands them over.

use super::run;
use crate::bridge::ffi;
use crate::kernels::testing::{Owned, Random};

struct Call {
    positions: Owned<i64>,
    frequencies: Owned<f32>,
    out: Owned<f32>,
}

impl Call {
    fn new(positions: &[i64], half: usize) -> Self {
        let frequencies = (0..half).map(|at| 10_000f32.powf(-(at as f32) / half as f32)).collect();
        Self {
            positions: Owned::new(&[positions.len()], positions.to_vec()),
            frequencies: Owned::new(&[half], frequencies),
            out: Random::new().floats(&[positions.len(), 2 * half]),
        }
    }

    fn raw(&mut self) -> ffi::RopeTableCall {
        ffi::RopeTableCall {
            cache_position: self.positions.raw(),
            frequencies: self.frequencies.raw(),
            out: self.out.raw(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(&self.raw()) }
    }
}

#[test]
fn cosines_come_before_sines() {
    for half in [0, 1, 32, 64] {
        let positions = [0, 1, 2, 1000, 8191, 131_072];
        let mut call = Call::new(&positions, half);
        call.run().unwrap();
        for (row, &position) in call.out.data.chunks_exact(2 * half.max(1)).zip(&positions) {
            for (at, &frequency) in call.frequencies.data.iter().enumerate() {
                let angle = f64::from(position as f32 * frequency);
                assert!((f64::from(row[at]) - angle.cos()).abs() < 6e-8);
                assert!((f64::from(row[half + at]) - angle.sin()).abs() < 6e-8);
            }
        }
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let mut call = Call::new(&[1, 2, 3], 4);
    call.out = Random::new().floats(&[3, 4]);
    assert_eq!(call.run().unwrap_err(), "out has shape [3, 4], not [3, 8]");
    let mut call = Call::new(&[1, 2, 3], 4);
    call.frequencies.sizes = vec![2, 2];
    assert_eq!(call.run().unwrap_err(), "frequencies has 2 dimensions, not 1");
    let mut call = Call::new(&[1, 2], 2);
    let mut raw = call.raw();
    raw.out.data = raw.cache_position.data.cast();
    // SAFETY: nothing is written.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "out is written, and shares memory with cache_position");
}
