//! EXIF orientations as a rotation and a mirror.

use image::metadata::Orientation;

use crate::Rotation;

/// The rotation, and whether to mirror left to right after it, that make a picture upright.
pub(super) fn rotation_and_mirror(orientation: Orientation) -> (Rotation, bool) {
    match orientation {
        Orientation::NoTransforms => (Rotation::R0, false),
        Orientation::FlipHorizontal => (Rotation::R0, true),
        Orientation::Rotate180 => (Rotation::R180, false),
        Orientation::FlipVertical => (Rotation::R180, true),
        Orientation::Rotate90FlipH => (Rotation::R90, true),
        Orientation::Rotate90 => (Rotation::R90, false),
        Orientation::Rotate270FlipH => (Rotation::R270, true),
        Orientation::Rotate270 => (Rotation::R270, false),
    }
}

/// Whether width and height change places.
pub(super) fn swaps_axes(orientation: Orientation) -> bool {
    rotation_and_mirror(orientation).0.swaps_axes()
}

/// A turned copy of RGB pixels.
pub(super) fn turned(rgb: &[u8], [width, height]: [usize; 2], rotation: Rotation, mirror: bool) -> Vec<u8> {
    let (out_width, out_height) = if rotation.swaps_axes() { (height, width) } else { (width, height) };
    let mut out = Vec::with_capacity(rgb.len());
    for y in 0..out_height {
        for x in 0..out_width {
            let x = if mirror { out_width - 1 - x } else { x };
            let (x, y) = match rotation {
                Rotation::R0 => (x, y),
                Rotation::R90 => (y, height - 1 - x),
                Rotation::R180 => (width - 1 - x, height - 1 - y),
                Rotation::R270 => (width - 1 - y, x),
            };
            let start = (y * width + x) * 3;
            out.extend_from_slice(rgb.get(start..start + 3).unwrap_or(&[0; 3]));
        }
    }
    out
}
