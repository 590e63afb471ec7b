//! The tiny classifier of the fixtures, and frames in its colours.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses a part

use nearside_pipeline::vision::Frame;
use nearside_pipeline::{Error, Model, OpenOptions, Package};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

pub const SIDE: u32 = 48;

pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures")
}

pub fn package() -> PathBuf {
    fixtures().join("tiny-classifier.nearside")
}

/// Two variants, `xnnpack-fp32` and `portable-fp32`, with their weights in data files.
pub fn variants() -> PathBuf {
    fixtures().join("tiny-variants.nearside")
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

/// A copy of a package that a test may damage.
pub struct Copy(tempfile::TempDir);

impl Copy {
    pub fn of(package: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(package).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The program of the tiny classifier.
    pub fn program(&self) -> PathBuf {
        self.path().join("xnnpack-fp32.pte")
    }

    pub fn edit_manifest(&self, from: &str, to: &str) -> &Self {
        let path = self.path().join("manifest.json");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "the manifest has no {from}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
        self
    }

    /// Puts `contents` in place of `file` of a variant, and its size and hash into the manifest.
    pub fn exchange(&self, file: &str, contents: &[u8]) -> &Self {
        let mut manifest = Package::open(self.path()).unwrap().manifest().clone();
        let entries = manifest
            .variants
            .iter_mut()
            .flat_map(|variant| std::iter::once(&mut variant.program).chain(&mut variant.external_data));
        let entry =
            entries.into_iter().find(|entry| entry.path == file).expect("the manifest has no such file");
        entry.bytes = contents.len() as u64;
        entry.sha256 = Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect();
        let manifest = serde_json::to_string_pretty(&manifest).unwrap();
        std::fs::write(self.path().join("manifest.json"), manifest).unwrap();
        std::fs::write(self.path().join(file), contents).unwrap();
        self
    }

    pub fn error(&self) -> Error {
        let error = Model::open(self.path(), OpenOptions::default()).expect_err("was opened");
        assert!(!error.hint().is_empty());
        error
    }
}
