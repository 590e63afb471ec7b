//! Calls as C++ hands them over, compared with the definition in f64.

use super::arguments::Arguments;
use super::{activate, run};
use crate::bridge::ffi;
use crate::kernels::instruction_set::InstructionSet;
use crate::kernels::testing::{Owned, Random};

struct Call {
    x: Owned<f32>,
    activation: &'static str,
    out: Owned<f32>,
}

impl Call {
    /// Gates from about -100 to 100, and 0.
    fn new(rows: usize, width: usize, activation: &'static str) -> Self {
        let mut random = Random::new();
        let mut x = random.floats(&[1, rows, 2 * width]);
        for (at, x) in x.data.iter_mut().enumerate() {
            *x *= [0.0, 0.1, 3.0, 20.0, 100.0][at % 5];
        }
        Self { x, activation, out: random.floats(&[1, rows, width]) }
    }

    fn raw(&mut self) -> ffi::GatedCall {
        let activation = ffi::KernelText { data: self.activation.as_ptr(), bytes: self.activation.len() };
        ffi::GatedCall { x: self.x.raw(), activation, out: self.out.raw() }
    }

    fn run(&mut self) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(&self.raw()) }
    }
}

fn expected(activation: &str, x: f64) -> f64 {
    match activation {
        "silu" => x / (1.0 + (-x).exp()),
        _ => {
            // Without the difference in `1 + tanh`, which loses all of a small result.
            let angle = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            x / (1.0 + (-2.0 * angle).exp())
        }
    }
}

#[test]
fn the_gate_is_activated_and_multiplied() {
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        for activation in ["silu", "gelu_tanh"] {
            for (rows, width) in [(1, 1536), (3, 7), (1, 1), (50, 801), (0, 4), (4, 0)] {
                let mut call = Call::new(rows, width, activation);
                // SAFETY: all tensors are owned and none is used meanwhile.
                activate(unsafe { Arguments::of(&call.raw()) }.unwrap(), set).unwrap();
                let lines =
                    call.x.data.chunks_exact(2 * width.max(1)).zip(call.out.data.chunks_exact(width.max(1)));
                for (x, out) in lines {
                    for (at, &out) in out.iter().enumerate() {
                        let expected = expected(activation, x[at].into()) * f64::from(x[width + at]);
                        let off = (f64::from(out) - expected).abs();
                        assert!(
                            off <= 1e-5 * expected.abs() + 1e-33,
                            "{set:?} {activation}: {out} is not {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_number_stays_none_and_infinity_is_no_trouble() {
    for activation in ["silu", "gelu_tanh"] {
        let mut call = Call::new(1, 20, activation);
        call.x.data[..20].fill(1.0);
        call.x.data[3] = f32::NAN;
        call.x.data[19] = f32::INFINITY;
        call.x.data[20..].fill(2.0);
        call.run().unwrap();
        assert!(call.out.data[3].is_nan());
        assert_eq!(call.out.data[19], f32::INFINITY);
        assert!(call.out.data[..19].iter().enumerate().all(|(at, x)| at == 3 || (1.0..2.0).contains(x)));
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 5] = [
        (|call| call.activation = "relu", "activation is `relu`, not `silu` or `gelu_tanh`"),
        (|call| call.activation = "", "activation is ``"),
        (|call| call.x.sizes = vec![2, 4, 3], "the batch is 2"),
        (|call| call.x.sizes = vec![1, 8, 3], "x has 3 columns, which are no two halves"),
        (|call| call.out.sizes = vec![1, 4, 3], "out has shape [1, 4, 3], not [1, 3, 4]"),
    ];
    for (change, why) in changes {
        let mut call = Call::new(3, 4, "silu");
        change(&mut call);
        let problem = call.run().unwrap_err();
        assert!(problem.contains(why), "{problem}");
    }
    let mut call = Call::new(3, 4, "silu");
    let mut raw = call.raw();
    raw.out.data = raw.x.data;
    // SAFETY: all tensors are owned and none is used meanwhile.
    assert_eq!(unsafe { run(&raw) }.unwrap_err(), "out is written, and shares memory with x");
}
