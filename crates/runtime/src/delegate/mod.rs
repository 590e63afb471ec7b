//! ExecuTorch's delegates: what each is called, where it runs, what it can be told and what the device must have.
//!
//! One file a delegate. Which of them are part of this build is another question: [`availability`] answers it.

mod apply;
mod availability;
mod coreml;
mod library;
mod mediatek;
mod mlx;
pub mod nnapi;
pub mod openvino;
mod option;
mod options;
pub mod qnn;
mod samsung;
mod vulkan;
pub mod xnnpack;

pub use apply::delegate_option;
pub(crate) use apply::{Prepared, prepare};
pub(crate) use availability::require;
pub use availability::{Availability, availability};
pub use coreml::{ComputeUnit, CoreMlOptions};
pub use mlx::MlxOptions;
pub use openvino::OpenVinoOptions;
pub use option::{OptionInfo, OptionKind, OptionValue, Scope};
pub use options::{ChosenOption, DelegateOptions};
pub use qnn::QnnOptions;
pub use xnnpack::{WorkspaceSharing, XnnpackOptions};

use crate::error::{Error, Result};
use crate::program::Program;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An operating system that a delegate runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Platform {
    Android,
    Ios,
    Linux,
    Macos,
    Windows,
}

/// What is known of one delegate. Sources: its `runtime/` folder in ExecuTorch 1.5.1.
#[derive(Debug)]
pub struct DelegateInfo {
    /// ExecuTorch's id, which programs carry, such as `XnnpackBackend`.
    pub id: &'static str,
    /// A word for command lines, such as `xnnpack`.
    pub short_name: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Where ExecuTorch has it.
    pub platforms: &'static [Platform],
    /// What can be chosen at run time. What was chosen at export is part of the program and not here.
    pub options: &'static [OptionInfo],
    /// What must be on the device.
    pub needs: &'static str,
    /// How ExecuTorch itself shows that it is not; ours is [`Error::DelegateUnavailable`] before the load.
    pub absence: &'static str,
    /// What this project tested of it.
    pub tested: &'static str,
    pub(crate) check: Check,
    /// Puts into effect, before a load, what ExecuTorch can't be told, and checks what it would not.
    pub(crate) prepare: fn(&Program, &mut DelegateOptions) -> Result<Hold>,
}

/// What must be kept for as long as a method that was loaded with it lives.
pub(crate) type Hold = Option<Arc<dyn Any + Send + Sync>>;

/// Our own check of what a delegate needs; its error is one sentence.
#[derive(Debug)]
pub(crate) enum Check {
    /// None: ExecuTorch's `is_available` says what there is to say.
    None,
    /// Before ExecuTorch's, to say why.
    Before(fn() -> std::result::Result<(), String>),
    /// In place of ExecuTorch's, which would do more than ask. Options of a load that is to come may tell where things are.
    InPlace(fn(&DelegateOptions) -> std::result::Result<(), String>),
}

impl DelegateInfo {
    /// Whether a method that needs it could be loaded here.
    pub fn availability(&self) -> Availability {
        availability(self.id)
    }

    /// The option of this name.
    ///
    /// # Errors
    /// [`Error::UnknownDelegateOption`].
    pub fn option(&self, key: &str) -> Result<&'static OptionInfo> {
        self.options.iter().find(|option| option.key == key).ok_or_else(|| Error::UnknownDelegateOption {
            delegate: self.id.to_owned(),
            option: key.to_owned(),
            known: self.options.iter().map(|option| option.key.to_owned()).collect(),
        })
    }
}

/// The delegates that this project knows, in the order in which the documentation has them.
pub static DELEGATES: [&DelegateInfo; 8] = [
    &xnnpack::INFO,
    &qnn::INFO,
    &openvino::INFO,
    &coreml::INFO,
    &mlx::INFO,
    &vulkan::INFO,
    &mediatek::INFO,
    &samsung::INFO,
];

/// Finds a delegate by its id or short name, in any case.
///
/// # Errors
/// [`Error::UnknownDelegate`], which lists the ids; for NNAPI it says what to use instead.
pub fn find(name: &str) -> Result<&'static DelegateInfo> {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    DELEGATES.into_iter().find(|delegate| same(delegate.id) || same(delegate.short_name)).ok_or_else(|| {
        Error::UnknownDelegate {
            delegate: name.to_owned(),
            why: nnapi::is_meant(name).then_some(nnapi::WHY_NOT),
            known: DELEGATES.iter().map(|delegate| delegate.id.to_owned()).collect(),
        }
    })
}

/// What a delegate's payload says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DelegateGraph {
    /// The operators inside, with their calls.
    pub(crate) operators: BTreeMap<String, usize>,
    /// Bytes of weights.
    pub(crate) constant_bytes: u64,
    /// What the delegate keeps of them in a form of its own, about.
    pub(crate) packed_bytes: u64,
    /// Whether the delegate reads weights where they are, as it runs, instead of having packed them all.
    pub(crate) reads_in_place: bool,
    /// What lies between its operators, at most.
    pub(crate) workspace_bytes: u64,
    /// For each argument of a call, whether it is written.
    pub(crate) written: Vec<bool>,
}

/// For delegates whose options all reach ExecuTorch as they are.
fn nothing_to_prepare(_: &Program, _: &mut DelegateOptions) -> Result<Hold> {
    Ok(None)
}
