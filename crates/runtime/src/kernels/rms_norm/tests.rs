//! Calls as C++ hands them over, compared with the definition in f64.

use super::arguments::Arguments;
use super::{normalise, run, run_with_sum};
use crate::bridge::ffi;
use crate::kernels::instruction_set::InstructionSet;
use crate::kernels::testing::{Owned, Random};

struct Call {
    x: Owned<f32>,
    delta: Owned<f32>,
    weight: Owned<f32>,
    eps: f64,
    sum: Owned<f32>,
    out: Owned<f32>,
}

impl Call {
    fn new(sizes: &[usize]) -> Self {
        let mut random = Random::new();
        Self {
            x: random.floats(sizes),
            delta: random.floats(sizes),
            weight: random.floats(&sizes[sizes.len() - 1..]),
            eps: 1e-5,
            sum: random.floats(sizes),
            out: random.floats(sizes),
        }
    }

    fn plain(&mut self) -> ffi::RmsNormCall {
        ffi::RmsNormCall { x: self.x.raw(), weight: self.weight.raw(), eps: self.eps, out: self.out.raw() }
    }

    fn with_sum(&mut self) -> ffi::AddRmsNormCall {
        ffi::AddRmsNormCall {
            x: self.x.raw(),
            delta: self.delta.raw(),
            weight: self.weight.raw(),
            eps: self.eps,
            sum: self.sum.raw(),
            normed: self.out.raw(),
        }
    }

    #[track_caller]
    fn check_out(&self, x: &[f32]) {
        let dim = self.weight.data.len();
        for (x, out) in x.chunks_exact(dim.max(1)).zip(self.out.data.chunks_exact(dim.max(1))) {
            let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            let root = (squares / dim as f64 + self.eps).sqrt();
            for ((&x, &weight), &out) in x.iter().zip(&self.weight.data).zip(out) {
                let expected = f64::from(x) / root * f64::from(weight);
                assert!(
                    (f64::from(out) - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                    "{out} is not {expected}"
                );
            }
        }
    }
}

fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

#[test]
fn rows_are_divided_by_their_root_mean_square() {
    for sizes in [&[1, 1, 576][..], &[1, 7, 64], &[3], &[2, 3, 5], &[130, 577], &[0, 8], &[1, 0]] {
        for set in sets() {
            let mut call = Call::new(sizes);
            // SAFETY: all tensors are owned and none is used meanwhile.
            normalise(unsafe { Arguments::of(&call.plain()) }.unwrap(), set).unwrap();
            call.check_out(&call.x.data);
        }
    }
}

#[test]
fn what_is_added_before_is_given_too() {
    for sizes in [&[1, 1, 576][..], &[1, 7, 64], &[3], &[2, 3, 5], &[130, 577], &[0, 8]] {
        for set in sets() {
            let mut call = Call::new(sizes);
            // SAFETY: all tensors are owned and none is used meanwhile.
            normalise(unsafe { Arguments::with_sum(&call.with_sum()) }.unwrap(), set).unwrap();
            let sum: Vec<f32> =
                call.x.data.iter().zip(&call.delta.data).map(|(x, delta)| x + delta).collect();
            assert_eq!(call.sum.data, sum);
            call.check_out(&sum);
        }
    }
}

#[test]
fn a_row_gives_the_same_bits_among_any_others() {
    for set in sets() {
        let mut all = Call::new(&[200, 576]);
        // SAFETY: all tensors are owned and none is used meanwhile.
        normalise(unsafe { Arguments::of(&all.plain()) }.unwrap(), set).unwrap();
        for row in [0, 1, 199] {
            let mut one = Call::new(&[1, 576]);
            one.weight.data.clone_from(&all.weight.data);
            one.x.data.copy_from_slice(&all.x.data[row * 576..(row + 1) * 576]);
            // SAFETY: as above.
            normalise(unsafe { Arguments::of(&one.plain()) }.unwrap(), set).unwrap();
            let bits = |data: &[f32]| data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one.out.data), bits(&all.out.data[row * 576..(row + 1) * 576]), "{set:?}");
        }
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 4] = [
        (|call| call.weight = Random::new().floats(&[4]), "weight has shape [4], not [5]"),
        (|call| call.out = Random::new().floats(&[3, 2, 5]), "has shape [3, 2, 5], not [2, 3, 5]"),
        (|call| call.x.sizes = vec![], "x has 0 dimensions, not 1 to 16"),
        (|call| call.x.sizes = vec![1; 17], "x has 17 dimensions, not 1 to 16"),
    ];
    for (change, why) in changes {
        let mut call = Call::new(&[2, 3, 5]);
        change(&mut call);
        // SAFETY: all tensors are owned and none is used meanwhile.
        let problems =
            unsafe { [run(&call.plain()).unwrap_err(), run_with_sum(&call.with_sum()).unwrap_err()] };
        assert!(problems.iter().all(|problem| problem.contains(why)), "{problems:?}");
    }
    let mut call = Call::new(&[2, 3, 5]);
    call.delta = Random::new().floats(&[2, 15]);
    // SAFETY: as above.
    let problem = unsafe { run_with_sum(&call.with_sum()) }.unwrap_err();
    assert_eq!(problem, "delta has shape [2, 15], not [2, 3, 5]");
}

#[test]
fn memory_that_is_written_is_shared_with_nothing() {
    let mut call = Call::new(&[2, 8]);
    let mut raw = call.plain();
    raw.out.data = raw.x.data;
    // SAFETY: all tensors are owned and none is used meanwhile.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "out is written, and shares memory with x");
    let mut raw = call.with_sum();
    raw.normed.data = raw.sum.data;
    // SAFETY: as above.
    let problem = unsafe { run_with_sum(&raw) }.unwrap_err();
    assert_eq!(problem, "sum is written, and shares memory with normed");
}
