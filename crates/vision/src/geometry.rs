//! Rectangles and quarter turns.

use crate::{Error, Result};

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Rect {
    /// Whether it has at least one pixel and lies inside a picture of this size.
    pub(crate) fn lies_inside(&self, width: u32, height: u32) -> bool {
        let fits = |start: u32, len: u32, limit: u32| {
            len > 0 && start.checked_add(len).is_some_and(|end| end <= limit)
        };
        fits(self.x, self.width, width) && fits(self.y, self.height, height)
    }
}

/// The clockwise rotation that makes a picture upright, as `ImageProxy.getImageInfo().rotationDegrees` on Android.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// Already upright.
    #[default]
    R0,
    /// A quarter turn clockwise.
    R90,
    /// Half a turn.
    R180,
    /// A quarter turn anticlockwise.
    R270,
}

impl Rotation {
    /// The rotation by 0, 90, 180 or 270 degrees clockwise.
    ///
    /// # Errors
    /// [`Error::InvalidRotation`] for any other number.
    pub fn from_degrees(degrees: i64) -> Result<Self> {
        match degrees {
            0 => Ok(Self::R0),
            90 => Ok(Self::R90),
            180 => Ok(Self::R180),
            270 => Ok(Self::R270),
            _ => Err(Error::InvalidRotation { degrees }),
        }
    }

    /// Degrees clockwise.
    pub fn degrees(self) -> u32 {
        match self {
            Self::R0 => 0,
            Self::R90 => 90,
            Self::R180 => 180,
            Self::R270 => 270,
        }
    }

    /// Whether width and height change places.
    pub fn swaps_axes(self) -> bool {
        matches!(self, Self::R90 | Self::R270)
    }
}

/// How the axes of the sensor become those of the upright picture: flip each as asked, then transpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orientation {
    pub(crate) transpose: bool,
    pub(crate) flip_sensor_x: bool,
    pub(crate) flip_sensor_y: bool,
}

impl Orientation {
    /// Rotate, then mirror left to right.
    pub(crate) fn new(rotation: Rotation, mirror: bool) -> Self {
        // A quarter turn clockwise takes upright (x, y) from sensor (y, height - 1 - x).
        let (transpose, flip_sensor_x, flip_sensor_y) = match rotation {
            Rotation::R0 => (false, false, false),
            Rotation::R90 => (true, false, true),
            Rotation::R180 => (false, true, true),
            Rotation::R270 => (true, true, false),
        };
        // The mirror flips upright x, which runs along sensor y when transposed.
        Self {
            transpose,
            flip_sensor_x: flip_sensor_x ^ (mirror && !transpose),
            flip_sensor_y: flip_sensor_y ^ (mirror && transpose),
        }
    }
}
