//! Calls as C++ hands them over, compared with what they are defined as in f64.

use super::run_with;
use crate::bridge::ffi;
use crate::kernels::instruction_set::InstructionSet;
use crate::kernels::testing::{Owned, Random, absent};
use crate::tensor::DType;
use half::f16;

/// A cache of any type, as bytes.
#[derive(Clone)]
struct CacheBytes {
    dtype: DType,
    sizes: Vec<i32>,
    data: Vec<u64>,
}

impl CacheBytes {
    /// One that holds something everywhere.
    fn new(dtype: DType, [key_heads, slots, dim]: [usize; 3], random: &mut Random) -> Self {
        let row = if dtype == DType::U8 { dim + 4 } else { dim };
        let bytes = key_heads * slots * row * dtype.element_bytes().unwrap();
        let sizes = [key_heads, slots, row].map(|size| size as i32).to_vec();
        let mut cache = Self { dtype, sizes, data: vec![0; bytes.div_ceil(8)] };
        for head in 0..key_heads {
            for slot in 0..slots {
                let row: Vec<f32> = (0..dim).map(|_| random.float()).collect();
                cache.write(head, slot, &row);
            }
        }
        cache
    }

    fn raw(&mut self) -> ffi::KernelTensor {
        let elements: i32 = self.sizes.iter().product();
        ffi::KernelTensor {
            given: true,
            dtype: self.dtype.to_raw(),
            row_major: true,
            sizes: self.sizes.as_ptr(),
            dims: 3,
            data: self.data.as_mut_ptr().cast(),
            bytes: elements as usize * self.dtype.element_bytes().unwrap(),
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: they are the bytes of plain numbers.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast(), size_of_val(self.data.as_slice())) }
    }

    fn set(&mut self, at: usize, bytes: &[u8]) {
        // SAFETY: as above.
        let all = unsafe {
            std::slice::from_raw_parts_mut(
                self.data.as_mut_ptr().cast::<u8>(),
                size_of_val(self.data.as_slice()),
            )
        };
        all[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Where the row's elements begin, and how many there are.
    fn place(&self, head: usize, slot: usize) -> (usize, usize) {
        let [_, slots, row] = self.sizes[..] else { panic!() };
        let (slots, row) = (slots as usize, row as usize);
        match self.dtype {
            DType::U8 => (head * slots * row + slot * (row - 4), row - 4),
            _ => ((head * slots + slot) * row * self.dtype.element_bytes().unwrap(), row),
        }
    }

    fn scale_at(&self, head: usize, slot: usize) -> usize {
        let slots = self.sizes[1] as usize;
        let (first, dim) = self.place(head, 0);
        first + slots * dim + slot * 4
    }

    fn write(&mut self, head: usize, slot: usize, row: &[f32]) {
        let (at, _) = self.place(head, slot);
        match self.dtype {
            DType::F32 => {
                row.iter().enumerate().for_each(|(i, x)| self.set(at + i * 4, &x.to_le_bytes()));
            }
            DType::F16 => {
                row.iter()
                    .enumerate()
                    .for_each(|(i, &x)| self.set(at + i * 2, &f16::from_f32(x).to_le_bytes()));
            }
            _ => {
                let scale = row.iter().fold(0f32, |largest, x| largest.max(x.abs())) / 127.0;
                let whole = |x: f32| if scale > 0.0 { (x / scale).round_ties_even() as i8 } else { 0 };
                row.iter().enumerate().for_each(|(i, &x)| self.set(at + i, &whole(x).to_le_bytes()));
                self.set(self.scale_at(head, slot), &scale.to_le_bytes());
            }
        }
    }

    fn read(&self, head: usize, slot: usize) -> Vec<f64> {
        let (at, dim) = self.place(head, slot);
        let bytes = self.bytes();
        let four = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let element = |i: usize| match self.dtype {
            DType::F32 => four(at + i * 4).into(),
            DType::F16 => f16::from_le_bytes([bytes[at + i * 2], bytes[at + i * 2 + 1]]).to_f64(),
            _ => f64::from(bytes[at + i] as i8) * f64::from(four(self.scale_at(head, slot))),
        };
        (0..dim).map(element).collect()
    }
}

#[derive(Clone)]
struct Call {
    qkv: Owned<f32>,
    norms: Option<[Owned<f32>; 2]>,
    table: Owned<f32>,
    caches: [CacheBytes; 2],
    positions: Owned<i64>,
    until: Option<Owned<i64>>,
    heads: i64,
    window: i64,
    out: Owned<f32>,
}

const SCALE: f64 = 0.3;
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::U8];

impl Call {
    fn new(dtype: DType, [rows, heads, key_heads, dim, slots]: [usize; 5], position: i64) -> Self {
        let mut random = Random::new();
        let mut table = random.floats(&[rows, dim]);
        for row in table.data.chunks_exact_mut(dim.max(1)) {
            let (cosines, sines) = row.split_at_mut(dim / 2);
            for (cosine, sine) in cosines.iter_mut().zip(sines) {
                (*sine, *cosine) = (3.0 * *cosine).sin_cos();
            }
        }
        let caches = [(); 2].map(|()| CacheBytes::new(dtype, [key_heads, slots, dim], &mut random));
        Self {
            qkv: random.floats(&[1, rows, (heads + 2 * key_heads) * dim]),
            norms: Some([random.floats(&[dim]), random.floats(&[dim])]),
            table,
            caches,
            positions: Owned::new(&[rows], (position..position + rows as i64).collect()),
            until: None,
            heads: heads as i64,
            window: 0,
            out: random.floats(&[1, rows, heads * dim]),
        }
    }

    fn raw(&mut self) -> ffi::RotaryAttentionCall {
        let [query_norm, key_norm] = match &mut self.norms {
            Some(norms) => norms.each_mut().map(Owned::raw),
            None => [absent(), absent()],
        };
        let [keys, values] = &mut self.caches;
        ffi::RotaryAttentionCall {
            qkv: self.qkv.raw(),
            query_norm,
            key_norm,
            eps: 1e-6,
            table: self.table.raw(),
            key_cache: keys.raw(),
            value_cache: values.raw(),
            cache_position: self.positions.raw(),
            visible_until: self.until.as_mut().map_or_else(absent, Owned::raw),
            heads: self.heads,
            scale: SCALE,
            window: self.window,
            out: self.out.raw(),
        }
    }

    fn run(&mut self, set: InstructionSet, threads: usize) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run_with(&self.raw(), set, Some(threads)) }
    }

    fn sizes(&self) -> [usize; 5] {
        let [key_heads, slots, _] = self.caches[0].sizes[..] else { panic!() };
        let dim = self.table.sizes[1] as usize;
        [self.positions.data.len(), self.heads as usize, key_heads as usize, dim, slots as usize]
    }

    /// A head of a row, normalised and rotated.
    fn rotated(&self, row: usize, head: usize, norm: Option<&Owned<f32>>) -> Vec<f64> {
        let [_, heads, key_heads, dim, _] = self.sizes();
        let at = (row * (heads + 2 * key_heads) + head) * dim;
        let mut x: Vec<f64> = self.qkv.data[at..at + dim].iter().map(|&x| x.into()).collect();
        if let Some(norm) = norm {
            let root = (x.iter().map(|x| x * x).sum::<f64>() / dim as f64 + 1e-6).sqrt();
            x.iter_mut().zip(&norm.data).for_each(|(x, &weight)| *x = *x / root * f64::from(weight));
        }
        let table = &self.table.data[row * dim..(row + 1) * dim];
        let half = dim / 2;
        let angle = |i: usize| (f64::from(table[i]), f64::from(table[half + i]));
        let low = (0..half).map(|i| x[i] * angle(i).0 - x[i + half] * angle(i).1);
        let high = (0..half).map(|i| x[i + half] * angle(i).0 + x[i] * angle(i).1);
        low.chain(high).collect()
    }

    /// The caches after the call.
    fn stored(&self) -> [CacheBytes; 2] {
        let [rows, heads, key_heads, dim, slots] = self.sizes();
        let [mut keys, mut values] = self.caches.clone();
        for row in 0..rows {
            let slot = self.positions.data[row] as usize % slots;
            for head in 0..key_heads {
                let norm = self.norms.as_ref().map(|[_, key]| key);
                let key: Vec<f32> = self.rotated(row, heads + head, norm).iter().map(|&x| x as f32).collect();
                keys.write(head, slot, &key);
                let at = (row * (heads + 2 * key_heads) + heads + key_heads + head) * dim;
                values.write(head, slot, &self.qkv.data[at..at + dim]);
            }
        }
        [keys, values]
    }

    /// What the call must give over these caches.
    fn attended(&self, [keys, values]: &[CacheBytes; 2]) -> Vec<f64> {
        let [rows, heads, key_heads, dim, slots] = self.sizes();
        let [keys, values] = [keys, values].map(|cache| -> Vec<Vec<f64>> {
            (0..key_heads * slots).map(|at| cache.read(at / slots, at % slots)).collect()
        });
        let mut out = Vec::new();
        for row in 0..rows {
            let position = self.positions.data[row];
            let last = self.until.as_ref().map_or(position, |until| until.data[row]);
            let first = if self.window > 0 { (position - self.window + 1).max(0) } else { 0 };
            for head in 0..heads {
                let query = self.rotated(row, head, self.norms.as_ref().map(|[query, _]| query));
                let line = |position: i64| head / (heads / key_heads) * slots + position as usize % slots;
                let score = |position: i64| -> f64 {
                    query.iter().zip(&keys[line(position)]).map(|(a, b)| a * b).sum::<f64>() * SCALE
                };
                let scores: Vec<f64> = (first..=last).map(score).collect();
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
                let sum: f64 = weights.iter().sum();
                out.extend((0..dim).map(|i| -> f64 {
                    (first..=last).zip(&weights).map(|(at, weight)| weight / sum * values[line(at)][i]).sum()
                }));
            }
        }
        out
    }

    #[track_caller]
    fn check(mut self, set: InstructionSet) {
        let stored = self.stored();
        let before = self.clone();
        self.run(set, 1).unwrap();
        let [_, _, key_heads, _, slots] = self.sizes();
        let dtype = self.caches[0].dtype;
        for (found, expected) in self.caches.iter().zip(&stored) {
            for at in 0..key_heads * slots {
                let rows = [found, expected].map(|cache| cache.read(at / slots, at % slots));
                for (found, expected) in rows[0].iter().zip(&rows[1]) {
                    // f64 here may round the other way: by one step.
                    let step = [3e-6, 2e-3, 2e-2][DTYPES.iter().position(|it| *it == dtype).unwrap()];
                    assert!((found - expected).abs() <= step, "{dtype}: stored {found}, not {expected}");
                }
            }
        }
        let expected = before.attended(&self.caches);
        let off =
            self.out.data.iter().zip(&expected).map(|(found, expected)| (f64::from(*found) - expected).abs());
        let tolerance = if dtype == DType::U8 { 2e-2 } else { 3e-6 };
        let worst = off.fold(0.0, f64::max);
        assert!(worst < tolerance, "{set:?} {dtype}: off by {worst}");
    }

    #[track_caller]
    fn refused(mut self, why: &str) {
        let before = self.caches.each_ref().map(|cache| cache.bytes().to_vec());
        let problem = self.run(InstructionSet::Scalar, 1).unwrap_err();
        assert!(problem.contains(why), "{problem}");
        assert!(
            self.caches.each_ref().map(|cache| cache.bytes().to_vec()) == before,
            "{why}: it wrote all the same"
        );
    }

    /// Some of its rows, over the caches of another call.
    fn rows(&self, from: usize, to: usize, caches: &[CacheBytes; 2]) -> Self {
        let [_, heads, key_heads, dim, _] = self.sizes();
        let width = (heads + 2 * key_heads) * dim;
        Self {
            qkv: Owned::new(&[1, to - from, width], self.qkv.data[from * width..to * width].to_vec()),
            table: Owned::new(&[to - from, dim], self.table.data[from * dim..to * dim].to_vec()),
            caches: caches.clone(),
            positions: Owned::new(&[to - from], self.positions.data[from..to].to_vec()),
            out: Owned::new(&[1, to - from, heads * dim], vec![0.0; (to - from) * heads * dim]),
            ..self.clone()
        }
    }
}

fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn it_gives_what_it_is_defined_as() {
    for set in sets() {
        for dtype in DTYPES {
            for (sizes, position) in [
                ([1, 1, 1, 2, 1], 0),
                ([1, 9, 3, 64, 700], 650),
                ([1, 4, 1, 256, 70], 64),
                ([2, 16, 8, 128, 90], 60),
                ([5, 4, 2, 8, 16], 3),
                // Many rows: more than a block, and heads that are no whole number of vectors.
                ([70, 6, 2, 20, 300], 200),
                ([40, 3, 1, 80, 64], 20),
                ([17, 1, 1, 96, 130], 100),
                // A group of more rows than are taken together.
                ([1, 7, 1, 32, 80], 79),
            ] {
                let call = Call::new(dtype, sizes, position);
                call.clone().check(set);
                Call { norms: None, ..call.clone() }.check(set);
                Call { window: 10, ..call.clone() }.check(set);
                let seen = call.positions.data.iter().map(|at| (at + 9).min(sizes[4] as i64 - 1)).collect();
                Call { until: Some(Owned::new(&[sizes[0]], seen)), ..call }.check(set);
            }
        }
    }
}

#[test]
fn with_a_window_the_cache_is_a_ring() {
    for set in sets() {
        for dtype in DTYPES {
            for (sizes, window) in
                [([1, 3, 1, 16, 20], 20), ([5, 4, 2, 8, 70], 66), ([40, 2, 1, 16, 200], 161)]
            {
                for position in [0, 7, 63, 130, 1000, 1 << 40] {
                    Call { window, ..Call::new(dtype, sizes, position) }.check(set);
                }
            }
        }
    }
}

#[test]
fn a_row_gives_the_same_bits_in_any_chunks() {
    for set in sets() {
        for dtype in DTYPES {
            for [rows, heads, key_heads, dim] in [[60, 9, 3, 64], [40, 4, 1, 24], [30, 2, 1, 128]] {
                // Past a split's end, and rows that see more than their own position.
                let position = 490;
                let mut whole = Call::new(dtype, [rows, heads, key_heads, dim, 560], position);
                let caches = whole.caches.clone();
                whole.run(set, 1).unwrap();
                for chunks in [&[1, 1, 3, 5, 16, 17, 2, 7][..], &[37]] {
                    let (mut caches, mut from) = (caches.clone(), 0);
                    for &count in chunks.iter().cycle() {
                        let to = rows.min(from + count);
                        let mut chunk = whole.rows(from, to, &caches);
                        chunk.run(set, 1).unwrap();
                        caches = chunk.caches;
                        let expected = &whole.out.data[from * heads * dim..to * heads * dim];
                        assert!(
                            bits(&chunk.out.data) == bits(expected),
                            "{set:?} {dtype}: rows {from} to {to}"
                        );
                        from = to;
                        if from == rows {
                            break;
                        }
                    }
                    assert!(caches[0].data == whole.caches[0].data && caches[1].data == whole.caches[1].data);
                }
            }
        }
    }
}

#[test]
fn a_ring_gives_the_same_bits_as_a_whole_cache() {
    let (window, position) = (100, 500);
    for set in sets() {
        for dtype in DTYPES {
            let [heads, key_heads, dim] = [6, 2, 32];
            let whole = Call { window, ..Call::new(dtype, [30, heads, key_heads, dim, 640], position) };
            // What the rows see of the whole cache, in the ring's slots.
            let slots = 139;
            let mut ring = Call { window, ..Call::new(dtype, [30, heads, key_heads, dim, slots], position) };
            let (mut whole, original) = (whole.rows(0, 30, &whole.caches), whole);
            for (to, from) in ring.caches.iter_mut().zip(&whole.caches) {
                for at in position - window..position {
                    for head in 0..key_heads {
                        let (from_at, _) = from.place(head, at as usize);
                        let (to_at, _) = to.place(head, at as usize % slots);
                        let bytes = from.bytes();
                        let length = dim * dtype.element_bytes().unwrap();
                        to.set(to_at, &bytes[from_at..from_at + length]);
                        if dtype == DType::U8 {
                            let scale = from.scale_at(head, at as usize);
                            let to_scale = to.scale_at(head, at as usize % slots);
                            to.set(to_scale, &bytes[scale..scale + 4]);
                        }
                    }
                }
            }
            let mut ring = original.rows(0, 30, &ring.caches);
            whole.run(set, 1).unwrap();
            ring.run(set, 1).unwrap();
            assert!(bits(&whole.out.data) == bits(&ring.out.data), "{set:?} {dtype}");
        }
    }
}

#[test]
fn threads_change_no_bit() {
    for set in sets() {
        for dtype in DTYPES {
            for (sizes, position) in
                [([1, 9, 3, 64, 2048], 2000), ([3, 4, 1, 256, 1100], 700), ([90, 9, 3, 64, 300], 200)]
            {
                let call = Call::new(dtype, sizes, position);
                for window in [0, 300] {
                    let run = |threads| {
                        let mut call = Call { window, ..call.clone() };
                        call.run(set, threads).unwrap();
                        bits(&call.out.data)
                    };
                    assert!(run(1) == run(2), "{set:?} {dtype} {sizes:?}");
                }
            }
        }
    }
}

#[test]
fn slots_that_no_row_sees_may_hold_anything() {
    for set in sets() {
        for dtype in [DType::F32, DType::F16] {
            for rows in [1, 40] {
                let call = Call::new(dtype, [rows, 9, 3, 64, 200], 90);
                let mut plain = call.clone();
                plain.run(set, 1).unwrap();
                let mut filled = call;
                for cache in &mut filled.caches {
                    for head in 0..3 {
                        for slot in 90 + rows..200 {
                            cache.write(head, slot, &[f32::NAN; 64]);
                        }
                    }
                }
                filled.run(set, 1).unwrap();
                assert!(bits(&plain.out.data) == bits(&filled.out.data), "{set:?} {dtype}");
                assert!(plain.out.data.iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn a_row_of_zeros_and_one_that_is_no_number_are_no_trouble() {
    for set in sets() {
        let mut call = Call::new(DType::U8, [2, 2, 1, 32, 40], 20);
        call.norms = None;
        call.qkv.data[..4 * 32].fill(0.0);
        call.qkv.data[4 * 32] = f32::NAN;
        call.qkv.data[5 * 32] = f32::INFINITY;
        call.run(set, 1).unwrap();
        assert!(call.caches[0].read(0, 20).iter().chain(&call.caches[1].read(0, 20)).all(|&x| x == 0.0));
        assert!(call.out.data[..64].iter().all(|x| x.is_finite()), "{set:?}");
    }
}

#[test]
fn positions_outside_of_the_cache_are_refused() {
    let call = || Call::new(DType::F16, [3, 4, 2, 8, 16], 5);
    for wrong in [-1, 16, i64::MIN, i64::MAX] {
        let mut given = call();
        given.positions.data[1] = wrong;
        given.refused(&format!("cache_position[1] is {wrong}, the cache has 16 slots"));
    }
    Call { window: -1, ..call() }.refused("window is -1");
    Call { until: Some(Owned::new(&[3], vec![5, 5, 7])), ..call() }.refused("visible_until[1] is 5");
    Call { window: 15, ..Call::new(DType::U8, [3, 4, 2, 8, 16], 40) }
        .refused("more than the cache's 16 slots");
}

#[test]
fn shapes_and_types_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 14] = [
        (|call| call.heads = 3, "3 query heads can't share 2 key heads"),
        (|call| call.heads = 0, "0 query heads"),
        (|call| call.heads = i64::MAX - 1, "query heads can't share"),
        (|call| call.heads = -4, "-4 query heads"),
        (|call| call.heads = 6, "rows of 64 can't be divided among 10 heads"),
        (|call| call.qkv.sizes = vec![3, 1, 64], "the batch is 3"),
        (|call| call.table.sizes = vec![6, 4], "table has shape [6, 4], not [3, 8]"),
        (
            |call| call.norms.as_mut().unwrap()[1] = Owned::new(&[2], vec![0.0; 2]),
            "key_norm has shape [2], not [8]",
        ),
        (|call| call.out.sizes = vec![1, 4, 24], "out has shape"),
        (|call| call.caches[0].sizes = vec![2, 24, 8], "rows of 8, not of 12"),
        (|call| call.caches[1].sizes = vec![2, 12, 16], "value_cache has shape"),
        (|call| call.caches[1].dtype = DType::I8, "value_cache is of i8, not of f32 or f16 or u8"),
        (|call| call.caches = Call::new(DType::F16, [1, 4, 2, 10, 16], 0).caches, "rows of 10, not of 8"),
        (
            |call| call.caches[1] = Call::new(DType::F16, [1, 4, 2, 12, 16], 0).caches[1].clone(),
            "key_cache is of u8, value_cache of f16",
        ),
    ];
    for (change, why) in changes {
        let mut call = Call::new(DType::U8, [3, 4, 2, 8, 16], 0);
        change(&mut call);
        call.refused(why);
    }
    Call::new(DType::F32, [1, 2, 1, 3, 16], 0).refused("a head has 3 elements, which are no pairs");
}

#[test]
fn memory_that_is_written_is_shared_with_nothing() {
    let mut call = Call::new(DType::F32, [2, 4, 2, 8, 4], 0);
    let problem = |raw: &ffi::RotaryAttentionCall| {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run_with(raw, InstructionSet::Scalar, Some(1)) }.unwrap_err()
    };
    let mut raw = call.raw();
    raw.out.data = raw.qkv.data;
    assert_eq!(problem(&raw), "out is written, and shares memory with qkv");
    let mut raw = call.raw();
    raw.value_cache.data = raw.key_cache.data;
    assert_eq!(problem(&raw), "key_cache is written, and shares memory with value_cache");
    let mut raw = call.raw();
    raw.key_norm.data = raw.value_cache.data;
    assert_eq!(problem(&raw), "value_cache is written, and shares memory with key_norm");
}
