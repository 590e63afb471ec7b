//! Taking channels apart and putting them together.
//!
//! Plain loops, which the compiler turns into vectors for each instruction set.

/// Every `stride`th of `values` from `offset` on.
#[inline(always)]
pub(super) fn pick16(values: &[i16], stride: usize, offset: usize, out: &mut [i16]) {
    #[inline(always)]
    fn fixed<const N: usize>(values: &[i16], offset: usize, out: &mut [i16]) {
        let (groups, rest) = values.as_chunks::<N>();
        for (out, group) in out.iter_mut().zip(groups) {
            *out = group[offset];
        }
        if let (Some(out), Some(&value)) = (out.get_mut(groups.len()), rest.get(offset)) {
            *out = value;
        }
    }
    match stride {
        2 => fixed::<2>(values, offset, out),
        3 => fixed::<3>(values, offset, out),
        4 => fixed::<4>(values, offset, out),
        _ => {
            out.iter_mut().zip(values[offset..].iter().step_by(stride)).for_each(|(out, &value)| *out = value)
        }
    }
}

/// As [`pick16`], of bytes.
#[inline(always)]
pub(super) fn pick8(bytes: &[u8], stride: usize, offset: usize, out: &mut [u8]) {
    #[inline(always)]
    fn fixed<const N: usize>(bytes: &[u8], offset: usize, out: &mut [u8]) {
        let (groups, rest) = bytes.as_chunks::<N>();
        for (out, group) in out.iter_mut().zip(groups) {
            *out = group[offset];
        }
        if let (Some(out), Some(&byte)) = (out.get_mut(groups.len()), rest.get(offset)) {
            *out = byte;
        }
    }
    match stride {
        3 => fixed::<3>(bytes, offset, out),
        4 => fixed::<4>(bytes, offset, out),
        _ => out.iter_mut().zip(bytes[offset..].iter().step_by(stride)).for_each(|(out, &byte)| *out = byte),
    }
}

/// Three lines of bytes as pixels of three.
#[inline(always)]
pub(super) fn interleave3([a, b, c]: [&[u8]; 3], out: &mut [u8]) {
    for (((out, &a), &b), &c) in out.as_chunks_mut::<3>().0.iter_mut().zip(a).zip(b).zip(c) {
        *out = [a, b, c];
    }
}

/// Bytes as floats: `byte * scale + bias`.
#[inline(always)]
pub(super) fn floats(bytes: &[u8], [scale, bias]: [f32; 2], out: &mut [f32]) {
    for (out, &byte) in out.iter_mut().zip(bytes) {
        *out = f32::from(byte) * scale + bias;
    }
}

/// Three lines of bytes as pixels of three floats.
#[inline(always)]
pub(super) fn interleave_floats([a, b, c]: [&[u8]; 3], by: [[f32; 2]; 3], out: &mut [f32]) {
    let float = |byte: u8, [scale, bias]: [f32; 2]| f32::from(byte) * scale + bias;
    for (((out, &a), &b), &c) in out.as_chunks_mut::<3>().0.iter_mut().zip(a).zip(b).zip(c) {
        *out = [float(a, by[0]), float(b, by[1]), float(c, by[2])];
    }
}

/// Columns of 16 bytes as rows of floats: `byte * scale + bias` of the first `rows` bytes of each, `stride` floats apart.
#[inline(always)]
pub(super) fn float_columns(
    columns: &[u8],
    rows: usize,
    [scale, bias]: [f32; 2],
    stride: usize,
    out: &mut [f32],
) {
    for (column, out) in columns.as_chunks::<16>().0.iter().zip(out.chunks_mut(stride)) {
        if let (16, Some(out)) = (rows, out.first_chunk_mut::<16>()) {
            for (out, &byte) in out.iter_mut().zip(column) {
                *out = f32::from(byte) * scale + bias;
            }
        } else {
            floats(&column[..rows], [scale, bias], &mut out[..rows]);
        }
    }
}
