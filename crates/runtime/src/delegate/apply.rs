//! How options reach ExecuTorch, and that they arrived.

use super::availability::require_one;
use super::option::{OptionInfo, OptionValue, Scope};
use super::options::{ChosenOption, DelegateOptions};
use super::{DELEGATES, DelegateInfo, find};
use crate::bridge::ffi;
use crate::error::{Error, Result};
use crate::file::MethodFile;
use crate::metadata::MethodMeta;
use crate::program::{Program, failed};
use crate::registry;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Held while a method is loaded: options of the process, and what is put into the environment, must stay until then.
static LOADING: Mutex<()> = Mutex::new(());

/// What a load needs of the options, with the process made ready for it.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// For ExecuTorch's map of load options.
    pub(crate) for_load: Vec<ffi::DelegateOption>,
    /// To be kept as long as the method.
    pub(crate) holds: Vec<Arc<dyn Any + Send + Sync>>,
    chosen: DelegateOptions,
    delegates: Vec<&'static DelegateInfo>,
    _loading: MutexGuard<'static, ()>,
}

/// Makes the process ready to load `method`.
///
/// # Errors
/// [`Error::DelegateMissing`], [`Error::DelegateUnavailable`], or what is wrong with an option.
pub(crate) fn prepare(program: &Program, method: &MethodFile, options: &DelegateOptions) -> Result<Prepared> {
    let loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut delegates = Vec::new();
    let mut holds = Vec::new();
    let mut chosen = DelegateOptions::new();
    for id in MethodMeta::new(method).delegates {
        let known = DELEGATES.into_iter().find(|delegate| delegate.id == id);
        if let Some(known) = known
            && registry::registered_delegates().contains(&id)
        {
            let mut mine = options.of(known.id);
            holds.extend((known.prepare)(program, &mut mine)?);
            chosen = chosen.with(mine);
            delegates.push(known);
        }
        // After its options, which may say where its library is.
        require_one(&method.name, &id, options)?;
    }
    for one in chosen.iter().filter(|one| one.option.scope == Scope::Process) {
        set_for_process(one)?;
    }
    let for_load = chosen.iter().filter(|one| one.option.scope == Scope::Load).map(to_ffi).collect();
    Ok(Prepared { for_load, holds, chosen, delegates, _loading: loading })
}

impl Prepared {
    /// What holds for the loaded method, as ExecuTorch has it.
    ///
    /// # Errors
    /// [`Error::DelegateOptionNotTaken`] if ExecuTorch has another value than the one given.
    pub(crate) fn read_back(&self, method: &ffi::Method) -> Result<DelegateOptions> {
        let mut effective = DelegateOptions::new();
        for one in &self.chosen {
            if one.option.scope == Scope::Load {
                let mut found = to_ffi(one);
                let present = method.delegate_option(&mut found);
                let found = present.then(|| value(&found));
                if found.as_ref() != Some(&one.value) {
                    return Err(not_taken(one, found));
                }
            }
            effective.set(one.delegate.id, one.option.key, one.value.clone())?;
        }
        for delegate in &self.delegates {
            for option in delegate.options {
                if effective.get(delegate.id, option.key).is_none()
                    && let Some(value) = read(delegate, option)
                {
                    effective.set(delegate.id, option.key, value)?;
                }
            }
        }
        Ok(effective)
    }
}

/// The value that a linked delegate has for one of its options when a load gives none, read with ExecuTorch's
/// `get_option`; `None` if it does not say.
///
/// # Errors
/// [`Error::UnknownDelegate`] or [`Error::UnknownDelegateOption`].
pub fn delegate_option(delegate: &str, key: &str) -> Result<Option<OptionValue>> {
    let delegate = find(delegate)?;
    Ok(read(delegate, delegate.option(key)?))
}

fn set_for_process(one: &ChosenOption) -> Result<()> {
    ffi::start_log();
    let code = ffi::set_delegate_option(&to_ffi(one));
    if code != 0 {
        return Err(failed(format!("set the option {} of {}", one.option.key, one.delegate.id), code));
    }
    let found = read(one.delegate, one.option);
    if found.as_ref() == Some(&one.value) { Ok(()) } else { Err(not_taken(one, found)) }
}

fn read(delegate: &DelegateInfo, option: &OptionInfo) -> Option<OptionValue> {
    if option.scope == Scope::Environment
        || !registry::registered_delegates().iter().any(|id| id == delegate.id)
    {
        return None;
    }
    let mut asked = ffi::DelegateOption {
        delegate: delegate.id.to_owned(),
        key: option.key.to_owned(),
        kind: ffi::DelegateOptionKind::Bool,
        flag: false,
        integer: 0,
        text: String::new(),
    };
    ffi::start_log();
    let found = ffi::get_delegate_option(&mut asked).then(|| value(&asked))?;
    option.kind.allows(&found).then_some(found)
}

fn not_taken(one: &ChosenOption, found: Option<OptionValue>) -> Error {
    Error::DelegateOptionNotTaken {
        delegate: one.delegate.id.to_owned(),
        option: one.option.key.to_owned(),
        value: one.value.to_string(),
        found: found.map_or_else(|| "nothing".to_owned(), |value| value.to_string()),
    }
}

fn to_ffi(one: &ChosenOption) -> ffi::DelegateOption {
    let mut option = ffi::DelegateOption {
        delegate: one.delegate.id.to_owned(),
        key: one.option.key.to_owned(),
        kind: ffi::DelegateOptionKind::Bool,
        flag: false,
        integer: 0,
        text: String::new(),
    };
    match &one.value {
        OptionValue::Bool(flag) => option.flag = *flag,
        OptionValue::Int(integer) => {
            option.kind = ffi::DelegateOptionKind::Int;
            option.integer = *integer;
        }
        OptionValue::Text(text) => {
            option.kind = ffi::DelegateOptionKind::Text;
            option.text.clone_from(text);
        }
    }
    option
}

fn value(option: &ffi::DelegateOption) -> OptionValue {
    match option.kind {
        ffi::DelegateOptionKind::Int => OptionValue::Int(option.integer),
        ffi::DelegateOptionKind::Text => OptionValue::Text(option.text.clone()),
        _ => OptionValue::Bool(option.flag),
    }
}

#[cfg(all(test, feature = "openvino", feature = "qnn"))]
mod tests {
    use super::*;
    use crate::delegate::{QnnOptions, qnn::LogLevel};

    #[test]
    fn options_of_the_process_reach_the_delegate_and_are_read_back() {
        let read = || delegate_option("qnn", "qnn_runtime_log_level").unwrap();
        assert_eq!(read(), None, "QNN says nothing of what was never set");
        for (level, number) in [(LogLevel::Warn, 2), (LogLevel::Off, 0)] {
            let options: DelegateOptions =
                QnnOptions { log_level: Some(level), ..QnnOptions::default() }.try_into().unwrap();
            options.iter().try_for_each(set_for_process).unwrap();
            assert_eq!(read(), Some(OptionValue::Int(number)));
        }
    }

    #[test]
    fn what_a_delegate_does_not_take_is_an_error() {
        // OpenVINO's delegate has no such function: ExecuTorch's default takes everything and keeps nothing.
        let openvino = find("openvino").unwrap();
        let one = ChosenOption {
            delegate: openvino,
            option: &openvino.options[1],
            value: OptionValue::Bool(false),
        };
        let error = set_for_process(&one).unwrap_err();
        assert!(matches!(error, Error::DelegateOptionNotTaken { .. }), "{error}");
    }
}
