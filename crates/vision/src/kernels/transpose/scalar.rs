//! The readable truth that every other implementation must equal.

/// Turns 16 rows, `columns` bytes each, on their side: 16 bytes for each column.
pub(in crate::kernels) fn sixteen(rows: &[u8], columns: usize, out: &mut [u8]) {
    sixteen_from(rows, columns, 0, out);
}

/// As [`sixteen`], for the columns from `first` on.
pub(super) fn sixteen_from(rows: &[u8], columns: usize, first: usize, out: &mut [u8]) {
    for (column, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate().take(columns).skip(first) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = rows[row * columns + column];
        }
    }
}
