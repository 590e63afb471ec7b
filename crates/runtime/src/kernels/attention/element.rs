//! What differs between the types that a cache may have, where keys and values are read.

use super::cache::Kind;
use crate::kernels::lanes::{Lanes, PARTS, dispatch};
use std::ops::Range;

/// A type of cached elements.
pub(super) trait Element {
    type Stored: Copy;

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

dispatch! {
    /// Makes floats of the elements `which`: `to` and `from` are where element 0 is, or would be.
    ///
    /// # Safety
    /// As for [`Lanes`]; the elements are of the kind, and whole vectors.
    pub(super) unsafe fn convert(kind: Kind, from: *const u8, which: Range<usize>, to: *mut f32) = convert_with
}

#[inline(always)]
unsafe fn convert_with<L: Lanes>(kind: Kind, from: *const u8, which: Range<usize>, to: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Kind::F32 => convert_all::<L, F32>(from.cast(), which, to),
            Kind::F16 => convert_all::<L, F16>(from.cast(), which, to),
            Kind::I8 => convert_all::<L, I8>(from.cast(), which, to),
        }
    }
}

#[inline(always)]
unsafe fn convert_all<L: Lanes, E: Element>(from: *const E::Stored, which: Range<usize>, to: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe {
        for at in which.step_by(L::LANES) {
            L::store(to.wrapping_add(at), E::load::<L>(from.wrapping_add(at)));
        }
    }
}
