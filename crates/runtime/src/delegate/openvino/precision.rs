//! Whether OpenVINO may compute in fewer bits than the program has.
//!
//! ExecuTorch's delegate gives OpenVINO no property, and OpenVINO ignores the precision hint that was in force at
//! export. What it does not ignore is what its CPU plugin's oneDNN may use: without the instructions for bf16 and fp16
//! it computes in f32. oneDNN reads `ONEDNN_MAX_CPU_ISA` once, when the plugin is first used
//! (<https://uxlfoundation.github.io/oneDNN/dev_guide_cpu_dispatcher_control.html>).

use super::options::ALLOW_REDUCED_PRECISION;
use super::{INFO, environment};
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};
use std::env;
use std::sync::OnceLock;

const VARIABLE: &str = "ONEDNN_MAX_CPU_ISA";
/// The most capable set of instructions that has neither bf16 nor fp16; int8 keeps its own.
const F32_ONLY: &str = "AVX512_CORE_VNNI";
/// All sets of instructions without bf16 and fp16, by oneDNN's names.
const ALL_F32_ONLY: [&str; 6] = ["SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI"];
/// The plugin's file, by a part of its name.
const PLUGIN: &str = "openvino_intel_cpu_plugin";

/// Whether it was forbidden when a method that needs OpenVINO was first loaded.
static SETTLED: OnceLock<bool> = OnceLock::new();

/// Forbids reduced precision for the process from here on, whatever other threads do.
/// [`OpenVinoOptions::allow_reduced_precision`](super::OpenVinoOptions::allow_reduced_precision) needs no `unsafe`,
/// but is refused while there are other threads.
///
/// # Errors
/// [`Error::DelegateOptionRefused`] if OpenVINO has been used already, or the processor is none for which this works.
///
/// # Safety
/// No other thread may read or write the environment meanwhile, be it from C or C++.
pub unsafe fn forbid_reduced_precision() -> Result<()> {
    if is_forbidden() {
        return Ok(());
    }
    possible()?;
    // SAFETY: the caller's promise.
    unsafe { env::set_var(VARIABLE, F32_ONLY) };
    Ok(())
}

/// Puts the choice of precision into effect.
pub(super) fn choose(options: &DelegateOptions) -> Result<()> {
    match options.get(INFO.id, ALLOW_REDUCED_PRECISION) {
        Some(OptionValue::Bool(false)) if !is_forbidden() => {
            possible()?;
            environment::set(VARIABLE, F32_ONLY).map_err(|reason| refused(false, reason))
        }
        Some(OptionValue::Bool(true)) if is_forbidden() => {
            Err(refused(true, format!("it was forbidden for this process by {VARIABLE}")))
        }
        _ => Ok(()),
    }
}

/// From here on it is as it is.
pub(super) fn settle() {
    SETTLED.get_or_init(read);
}

/// Whether it is forbidden already.
fn is_forbidden() -> bool {
    SETTLED.get().copied().unwrap_or_else(read)
}

fn read() -> bool {
    // Somebody else may have used the plugin; what was set since then is of no effect.
    let set = if plugin_is_loaded() { at_start() } else { env::var(VARIABLE).ok() };
    set.is_some_and(|set| ALL_F32_ONLY.iter().any(|isa| set.eq_ignore_ascii_case(isa)))
}

/// The variable as it was when the process started.
fn at_start() -> Option<String> {
    let environment = std::fs::read("/proc/self/environ").ok()?;
    let prefix = format!("{VARIABLE}=");
    let mut variables = environment.split(|&byte| byte == 0).filter_map(|one| std::str::from_utf8(one).ok());
    variables.find_map(|one| one.strip_prefix(&prefix)).map(str::to_owned)
}

/// Whether it can still be forbidden.
fn possible() -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Err(refused(false, "on this kind of processor OpenVINO can't be held to f32".into()));
    }
    if plugin_is_loaded() {
        let reason = format!(
            "OpenVINO has been used in this process and no longer reads {VARIABLE}: forbid it with the first method, \
             or set {VARIABLE}={F32_ONLY} before the process starts"
        );
        return Err(refused(false, reason));
    }
    Ok(())
}

/// Whether this process has OpenVINO's CPU plugin, by whomever it was loaded.
#[cfg(target_os = "linux")]
fn plugin_is_loaded() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains(PLUGIN))
}

#[cfg(not(target_os = "linux"))]
fn plugin_is_loaded() -> bool {
    // Unknown, so nothing is promised.
    true
}

fn refused(value: bool, reason: String) -> Error {
    Error::DelegateOptionRefused {
        delegate: INFO.id.to_owned(),
        option: ALLOW_REDUCED_PRECISION.to_owned(),
        value: value.to_string(),
        reason,
    }
}
