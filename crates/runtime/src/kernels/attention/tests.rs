//! Calls as C++ hands them over, compared with attention written down as it is defined.

use super::run;
use crate::bridge::ffi;
use crate::kernels::testing::{Owned, Random, absent};
use crate::tensor::DType;

/// The arguments of a call.
#[derive(Clone)]
struct Call {
    query: Owned<f32>,
    key: Owned<f32>,
    value: Owned<f32>,
    key_cache: Owned<f32>,
    value_cache: Owned<f32>,
    positions: Owned<i64>,
    until: Option<Owned<i64>>,
    scale: f64,
    window: i64,
    out: Owned<f32>,
}

impl Call {
    /// `rows` from `position` on, over caches that hold something everywhere.
    fn new([rows, heads, key_heads, dim, slots]: [usize; 5], position: i64) -> Self {
        let mut random = Random::new();
        let mut floats = |sizes: &[usize]| random.floats(sizes);
        Self {
            query: floats(&[1, rows, heads, dim]),
            key: floats(&[1, rows, key_heads, dim]),
            value: floats(&[1, rows, key_heads, dim]),
            key_cache: floats(&[key_heads, slots, dim]),
            value_cache: floats(&[key_heads, slots, dim]),
            positions: Owned { sizes: vec![rows as i32], data: (position..position + rows as i64).collect() },
            until: None,
            scale: 1.7,
            window: 0,
            out: floats(&[1, rows, heads, dim]),
        }
    }

    fn raw(&mut self) -> ffi::AttentionCall {
        ffi::AttentionCall {
            query: self.query.raw(),
            key: self.key.raw(),
            value: self.value.raw(),
            key_cache: self.key_cache.raw(),
            value_cache: self.value_cache.raw(),
            cache_position: self.positions.raw(),
            visible_until: self.until.as_mut().map_or_else(absent, Owned::raw),
            scale: self.scale,
            window: self.window,
            out: self.out.raw(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(&self.raw()) }
    }

    /// What the call must give, in f64 and one score at a time. The position `p` lives in slot `p % C`.
    fn expected(&self) -> (Vec<f32>, Vec<f32>, Vec<f64>) {
        let [_, rows, heads, dim] = self.query.sizes[..] else { panic!() };
        let [key_heads, slots, _] = self.key_cache.sizes[..] else { panic!() };
        let (rows, heads, dim) = (rows as usize, heads as usize, dim as usize);
        let (key_heads, slots) = (key_heads as usize, slots as usize);
        let written = |cache: &Owned<f32>, new: &Owned<f32>| {
            let mut cache = cache.data.clone();
            for row in 0..rows {
                for head in 0..key_heads {
                    let (to, from) = (
                        (head * slots + self.positions.data[row] as usize % slots) * dim,
                        (row * key_heads + head) * dim,
                    );
                    cache[to..to + dim].copy_from_slice(&new.data[from..from + dim]);
                }
            }
            cache
        };
        let (keys, values) = (written(&self.key_cache, &self.key), written(&self.value_cache, &self.value));
        let mut out = vec![0.0; self.out.data.len()];
        for row in 0..rows {
            let position = self.positions.data[row];
            let last = self.until.as_ref().map_or(position, |until| until.data[row]);
            let first = if self.window > 0 { (position - self.window + 1).max(0) } else { 0 };
            for head in 0..heads {
                let key_head = head / (heads / key_heads);
                let at = (row * heads + head) * dim;
                let line = |position: i64| (key_head * slots + position as usize % slots) * dim;
                let score = |position: i64| -> f64 {
                    let products = (0..dim)
                        .map(|i| f64::from(self.query.data[at + i]) * f64::from(keys[line(position) + i]));
                    products.sum::<f64>() * self.scale
                };
                let scores: Vec<f64> = (first..=last).map(score).collect();
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
                let sum: f64 = weights.iter().sum();
                for i in 0..dim {
                    let mixed = (first..=last)
                        .zip(&weights)
                        .map(|(position, weight)| weight / sum * f64::from(values[line(position) + i]));
                    out[at + i] = mixed.sum();
                }
            }
        }
        (keys, values, out)
    }

    #[track_caller]
    fn check(mut self) {
        let (keys, values, out) = self.expected();
        self.run().unwrap();
        assert_eq!((&self.key_cache.data, &self.value_cache.data), (&keys, &values));
        for (found, expected) in self.out.data.iter().zip(&out) {
            assert!((f64::from(*found) - expected).abs() < 2e-6, "{found} is not {expected}");
        }
    }

    #[track_caller]
    fn refused(mut self, why: &str) {
        let before = (self.key_cache.data.clone(), self.value_cache.data.clone());
        let problem = self.run().unwrap_err();
        assert!(problem.contains(why), "{problem}");
        assert_eq!((self.key_cache.data, self.value_cache.data), before, "{why}: it wrote all the same");
    }
}

#[test]
fn it_gives_what_attention_is_defined_as() {
    for (sizes, position) in [
        ([1, 1, 1, 1, 1], 0),
        ([1, 9, 3, 64, 200], 150),
        ([5, 4, 2, 8, 16], 3),
        // More rows than a block, more slots than a tile, a head that is no whole number of lanes.
        ([70, 6, 2, 20, 300], 200),
        ([33, 2, 1, 16, 64], 31),
        ([3, 3, 3, 7, 130], 127),
    ] {
        let call = Call::new(sizes, position);
        call.clone().check();
        for window in [1, 2, 63, 64, 65, i64::MAX] {
            Call { window, ..call.clone() }.check();
        }
        let slots = sizes[4] as i64;
        let seen = |ahead: i64| -> Vec<i64> {
            call.positions.data.iter().map(|&position| (position + ahead).min(slots - 1)).collect()
        };
        for ahead in [0, 1, 70] {
            let until = Some(Owned { sizes: call.positions.sizes.clone(), data: seen(ahead) });
            Call { until: until.clone(), ..call.clone() }.check();
            Call { until, window: 3, ..call.clone() }.check();
        }
    }
}

#[test]
fn with_a_window_the_cache_is_a_ring() {
    // Slots as many as a window and the rows of a call less one, and some more; a tile, a block and less.
    for ([rows, heads, key_heads, dim, slots], window) in [
        ([1, 1, 1, 4, 1], 1),
        ([5, 4, 2, 8, 12], 8),
        ([5, 4, 2, 8, 13], 8),
        ([20, 6, 2, 20, 83], 64),
        ([40, 2, 1, 16, 200], 100),
    ] {
        let far = [0, 1, 2, 7, 1000, 1 << 40, i64::MAX / 2].map(|lap| lap / slots as i64 * slots as i64);
        let near = (0..3 * slots as i64).step_by(1 + slots / 9);
        for position in near.chain(far) {
            let call = Call { window, ..Call::new([rows, heads, key_heads, dim, slots], position) };
            call.clone().check();
            // As an image's rows.
            let until = vec![position + rows as i64 - 1; rows];
            Call { until: Some(Owned { sizes: vec![rows as i32], data: until }), ..call }.check();
        }
    }
}

#[test]
fn a_ring_in_chunks_gives_what_a_whole_cache_gives() {
    let [heads, key_heads, dim, window] = [4, 2, 8, 6];
    let text = Call::new([50, heads, key_heads, dim, 64], 0);
    let chunks = [1usize, 5, 3, 4, 5, 1, 1, 5, 5, 5, 5, 5, 5];
    let run = |slots: usize| {
        let mut caches = Call::new([1, heads, key_heads, dim, slots], 0);
        let mut out = Vec::new();
        let mut from = 0;
        for rows in chunks {
            let part = |tensor: &Owned<f32>| {
                let row = (tensor.sizes[2] * tensor.sizes[3]) as usize;
                let data = tensor.data[from * row..(from + rows) * row].to_vec();
                Owned { sizes: vec![1, rows as i32, tensor.sizes[2], tensor.sizes[3]], data }
            };
            let positions = (from as i64..(from + rows) as i64).collect();
            let mut call = Call {
                query: part(&text.query),
                key: part(&text.key),
                value: part(&text.value),
                out: part(&text.out),
                positions: Owned { sizes: vec![rows as i32], data: positions },
                window: window as i64,
                ..caches.clone()
            };
            call.run().unwrap();
            out.extend_from_slice(&call.out.data);
            (caches.key_cache, caches.value_cache) = (call.key_cache, call.value_cache);
            from += rows;
        }
        out
    };
    let whole = run(64);
    for slots in [window + 4, window + 5, 16, 50] {
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
        assert!(run(slots).iter().zip(&whole).all(close), "{slots} slots");
    }
}

#[test]
fn rows_that_a_ring_is_too_small_for_are_refused() {
    let call = |window: i64, position: i64| Call { window, ..Call::new([3, 4, 2, 8, 16], position) };
    call(14, 40).check();
    call(15, 40).refused("see and write the positions 26 to 42, more than the cache's 16 slots");
    // At the beginning there is nothing before position 0 to be kept.
    call(15, 13).check();
    call(i64::MAX, 13).check();
    call(i64::MAX, 14).refused("the positions 0 to 16");
    let mut given = call(14, 40);
    given.until = Some(Owned { sizes: vec![3], data: vec![40, 43, 42] });
    given.refused("the positions 27 to 43");
    let mut given = call(4, 40);
    given.positions.data = vec![40, 100, 41];
    given.refused("the positions 37 to 100");
    for wrong in [-1, i64::MIN] {
        let mut given = call(4, 40);
        given.positions.data[1] = wrong;
        given.refused(&format!("cache_position[1] is {wrong}"));
    }
    let mut given = call(4, 40);
    given.positions.data = vec![i64::MAX - 2, i64::MAX - 1, i64::MAX];
    given.refused("cache_position[2] is 9223372036854775807");
    let mut given = call(4, 40);
    given.until = Some(Owned { sizes: vec![3], data: vec![40, 40, 42] });
    given.refused("visible_until[1] is 40, must be from 41");
    Call { window: 1, ..Call::new([1, 4, 2, 8, 0], 0) }.refused("the cache's 0 slots");
    Call { window: 1, ..Call::new([0, 4, 2, 8, 0], 0) }.check();
}

#[test]
fn positions_may_come_in_any_order() {
    let mut call = Call::new([4, 2, 1, 8, 32], 0);
    call.positions.data = vec![9, 30, 2, 17];
    call.clone().check();
    // Of rows for the same slot the last one stays.
    call.positions.data = vec![9, 9, 2, 9];
    call.check();
}

#[test]
fn chunks_give_what_one_call_gives() {
    let whole = Call::new([40, 4, 2, 24, 64], 0);
    let mut at_once = whole.clone();
    at_once.run().unwrap();
    let mut in_chunks = whole.clone();
    for (from, to) in [(0, 1), (1, 18), (18, 40)] {
        let rows = |tensor: &Owned<f32>| {
            let [_, _, heads, dim] = tensor.sizes[..] else { panic!() };
            let row = (heads * dim) as usize;
            let data = tensor.data[from * row..to * row].to_vec();
            Owned { sizes: vec![1, (to - from) as i32, heads, dim], data }
        };
        let mut chunk = Call {
            query: rows(&whole.query),
            key: rows(&whole.key),
            value: rows(&whole.value),
            positions: Owned { sizes: vec![(to - from) as i32], data: (from as i64..to as i64).collect() },
            out: rows(&whole.out),
            ..in_chunks.clone()
        };
        chunk.run().unwrap();
        (in_chunks.key_cache, in_chunks.value_cache) = (chunk.key_cache, chunk.value_cache);
        let row = 4 * 24;
        let expected = &at_once.out.data[from * row..to * row];
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
        assert!(chunk.out.data.iter().zip(expected).all(close), "rows {from} to {to}");
    }
    assert_eq!(in_chunks.key_cache.data, at_once.key_cache.data);
}

#[test]
fn scores_that_no_f32_can_exponentiate_are_no_trouble() {
    let mut call = Call::new([2, 2, 1, 8, 100], 90);
    call.scale = 1e6;
    call.clone().check();
    call.scale = -1e6;
    call.clone().check();
    call.scale = 1.0;
    call.query.data[0] = f32::NAN;
    call.run().unwrap();
    assert!(call.out.data[..8].iter().all(|element| element.is_nan()));
    assert!(call.out.data[8..].iter().all(|element| element.is_finite()), "it is of another head");
}

#[test]
fn no_rows_and_heads_without_elements_are_nothing_to_do() {
    Call::new([0, 4, 2, 8, 16], 0).check();
    Call::new([3, 4, 2, 0, 16], 0).check();
}

#[test]
fn positions_outside_of_the_cache_are_refused() {
    let call = || Call::new([3, 4, 2, 8, 16], 5);
    for wrong in [-1, 16, i64::MIN, i64::MAX] {
        let mut given = call();
        given.positions.data[1] = wrong;
        given.refused(&format!("cache_position[1] is {wrong}, the cache has 16 slots"));
    }
    for wrong in [5, -1, 16, i64::MAX] {
        let mut given = call();
        let data = vec![7, wrong, 7];
        given.until = Some(Owned { sizes: vec![3], data });
        given.refused(&format!("visible_until[1] is {wrong}, must be from 6"));
    }
    Call { window: -1, ..call() }.refused("window is -1");
    Call::new([1, 4, 2, 8, 0], 0).refused("the cache has 0 slots");
}

#[test]
fn shapes_and_types_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 13] = [
        (|call| call.query.sizes = vec![3, 4, 8], "query has 3 dimensions, not 4"),
        (|call| call.query.sizes = vec![3, 1, 4, 8], "the batch is 3"),
        (|call| call.query.sizes = vec![1, 3, 8, 4], "is for heads of 8, query has heads of 4"),
        (|call| call.query.sizes = vec![1, -3, 4, -8], "query has a size of -3"),
        (|call| call.query.sizes = vec![1, 4, 4, 8], "query has no memory that fits its shape"),
        (|call| call.key_cache.sizes = vec![3, 16, 8], "no memory that fits"),
        (|call| call.key_cache.sizes = vec![1, 32, 8], "key has shape [1, 3, 2, 8], not [1, 3, 1, 8]"),
        (|call| call.key_cache = Call::new([1, 1, 3, 8, 16], 0).key_cache, "4 query heads can't share 3"),
        (|call| call.key_cache.sizes = vec![0, 16, 8], "no memory that fits"),
        (|call| call.value_cache.sizes = vec![1, 32, 8], "value_cache has shape [1, 32, 8], not [2, 16, 8]"),
        (|call| call.key.sizes = vec![1, 2, 3, 8], "key has shape"),
        (|call| call.positions = Owned { sizes: vec![2], data: vec![0, 1] }, "cache_position has shape [2]"),
        (|call| call.out.sizes = vec![1, 4, 3, 8], "out has shape"),
    ];
    for (change, why) in changes {
        let mut call = Call::new([3, 4, 2, 8, 16], 0);
        change(&mut call);
        call.refused(why);
    }
    let mut call = Call::new([3, 4, 2, 8, 16], 0);
    let problem = |raw: &ffi::AttentionCall| {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(raw) }.unwrap_err()
    };
    let mut raw = call.raw();
    raw.key.dtype = DType::F16.to_raw();
    assert_eq!(problem(&raw), "key is of f16, not of f32");
    let mut raw = call.raw();
    raw.value_cache.row_major = false;
    assert_eq!(problem(&raw), "value_cache is not in row-major order");
    let mut raw = call.raw();
    raw.value.data = std::ptr::null_mut();
    assert_eq!(problem(&raw), "value has no memory that fits its shape");
    let mut raw = call.raw();
    raw.key.data = raw.key.data.wrapping_add(1);
    assert_eq!(problem(&raw), "key has no memory that fits its shape");
    let mut raw = call.raw();
    raw.out.dims = 0;
    assert_eq!(problem(&raw), "out has 0 dimensions, not 4");
}

#[test]
fn memory_that_is_written_is_shared_with_nothing() {
    let mut call = Call::new([2, 4, 2, 8, 4], 0);
    let mut raw = call.raw();
    raw.out.data = raw.query.data;
    // SAFETY: all tensors are owned and none is used meanwhile.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "out is written, and shares memory with query");
    let mut raw = call.raw();
    raw.value_cache.data = raw.key_cache.data;
    // SAFETY: as above.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "key_cache is written, and shares memory with value_cache");
}
