//! What differs between the types that a cache may have, where keys and values are read.

use crate::kernels::lanes::{Lanes, PARTS};

/// A type of cached elements.
pub(super) trait Element {
    type Stored: Copy;
    /// Whether rows have scales, and scores are products of whole numbers.
    const SCALED: bool;
    /// Whether the elements are floats already.
    const FLOATS: bool;

    /// A vector of them as floats.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn load<L: Lanes>(from: *const Self::Stored) -> L::F;

    /// [`PARTS`] of them as floats.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn parts<L: Lanes>(from: *const Self::Stored) -> L::Parts;
}

pub(super) struct F32;

impl Element for F32 {
    type Stored = f32;
    const SCALED: bool = false;
    const FLOATS: bool = true;

    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const f32) -> L::F {
        // SAFETY: the caller's promise.
        unsafe { L::load(from) }
    }

    #[inline(always)]
    unsafe fn parts<L: Lanes>(from: *const f32) -> L::Parts {
        // SAFETY: the caller's promise.
        unsafe { L::parts_load(from) }
    }
}

pub(super) struct F16;

impl Element for F16 {
    type Stored = u16;
    const SCALED: bool = false;
    const FLOATS: bool = false;

    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const u16) -> L::F {
        // SAFETY: the caller's promise.
        unsafe { L::load_f16(from) }
    }

    #[inline(always)]
    unsafe fn parts<L: Lanes>(from: *const u16) -> L::Parts {
        // SAFETY: the caller's promise.
        unsafe { L::parts_load_f16(from) }
    }
}

pub(super) struct I8;

impl Element for I8 {
    type Stored = i8;
    const SCALED: bool = true;
    const FLOATS: bool = false;

    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const i8) -> L::F {
        // SAFETY: the caller's promise.
        unsafe { L::load_i8(from) }
    }

    #[inline(always)]
    unsafe fn parts<L: Lanes>(from: *const i8) -> L::Parts {
        let mut floats = [0.0; PARTS];
        // SAFETY: the caller's promise.
        unsafe {
            for (at, float) in floats.iter_mut().enumerate() {
                *float = (*from.add(at)).into();
            }
            L::parts_load(floats.as_ptr())
        }
    }
}
