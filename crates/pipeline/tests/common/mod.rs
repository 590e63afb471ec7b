//! The tiny classifier of the fixtures, and frames in its colours.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses a part

use nearside_pipeline::vision::Frame;
use nearside_pipeline::{Model, OpenOptions};
use std::path::PathBuf;

pub const SIDE: u32 = 48;

pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures")
}

pub fn package() -> PathBuf {
    fixtures().join("tiny-classifier.nearside")
}

pub fn model() -> Model {
    Model::open(package(), OpenOptions::default()).unwrap()
}

/// An RGB picture of one colour.
pub fn picture(colour: [u8; 3]) -> Vec<u8> {
    colour.repeat((SIDE * SIDE) as usize)
}

pub const RED: [u8; 3] = [220, 20, 20];
pub const GREEN: [u8; 3] = [20, 220, 20];
pub const BLUE: [u8; 3] = [20, 20, 220];

pub fn frame(bytes: &[u8], timestamp_ns: i64) -> Frame<'_> {
    Frame { timestamp_ns, ..Frame::rgb(bytes, SIDE, SIDE, None).unwrap() }
}
