//! Options of delegates: what is refused and in which words, and that they reach ExecuTorch.
#![allow(missing_docs)]

mod common;

use common::{assert_gives_eagers_outputs, cases, path};
use nearside_runtime::delegate::{
    self, Availability, ComputeUnit, CoreMlOptions, DELEGATES, DelegateOptions, MlxOptions, OptionKind,
    OptionValue, QnnOptions, WorkspaceSharing, XnnpackOptions, availability, delegate_option,
};
use nearside_runtime::{Error, LoadMode, LoadOptions, Method, Program, Result};
use std::path::{Path, PathBuf};

const ID: &str = "XnnpackBackend";

fn load(options: DelegateOptions) -> Result<Method> {
    let program = Program::open(path("mlp-xnnpack.pte"), LoadMode::Mmap)?;
    let load = LoadOptions { delegate_options: options, ..LoadOptions::default() };
    program.load_method_with("forward", &load)
}

fn runs_exactly(method: &mut Method) {
    for case in cases().iter().filter(|case| case.file == "mlp-xnnpack.pte") {
        assert_gives_eagers_outputs(method, case);
    }
}

fn cached_at(path: &Path) -> DelegateOptions {
    let options = XnnpackOptions { packed_cache_path: Some(path.to_owned()), ..XnnpackOptions::default() };
    DelegateOptions::try_from(options).unwrap()
}

#[test]
fn every_workspace_sharing_with_and_without_weight_cache_is_taken_and_gives_eagers_outputs() {
    for (sharing, number) in
        [(WorkspaceSharing::Disabled, 0), (WorkspaceSharing::PerModel, 1), (WorkspaceSharing::Global, 2)]
    {
        for cache in [false, true] {
            let options = XnnpackOptions {
                workspace_sharing: Some(sharing),
                weight_cache: Some(cache),
                ..XnnpackOptions::default()
            };
            let mut method = load(options.try_into().unwrap()).unwrap();
            let found = method.delegate_options();
            assert_eq!(found.get(ID, "workspace_sharing_mode"), Some(&OptionValue::Int(number)));
            assert_eq!(found.get(ID, "weight_cache_enabled"), Some(&OptionValue::Bool(cache)));
            runs_exactly(&mut method);
        }
    }
}

#[test]
fn what_is_not_chosen_is_read_from_the_delegate() {
    let method = load(DelegateOptions::new()).unwrap();
    for key in ["workspace_sharing_mode", "weight_cache_enabled"] {
        let default = delegate_option("xnnpack", key).unwrap().unwrap();
        assert_eq!(method.delegate_options().get(ID, key), Some(&default), "{key}");
    }
    assert_eq!(delegate_option(ID, "workspace_sharing_mode").unwrap(), Some(OptionValue::Int(2)));
}

#[test]
fn packed_weights_are_kept_in_the_file_given_and_taken_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("packed");
    let mut method = load(cached_at(&file)).unwrap();
    assert_eq!(method.delegate_options().get(ID, "weight_cache_enabled"), Some(&OptionValue::Bool(true)));
    runs_exactly(&mut method);
    drop(method);
    let packed = std::fs::read(&file).unwrap();
    // The hidden layer alone has 16 * 8 weights of 4 bytes.
    assert!(packed.len() > 512, "{} bytes were kept", packed.len());
    runs_exactly(&mut load(cached_at(&file)).unwrap());
    assert!(std::fs::read(&file).unwrap() == packed, "the second load packed anew");
}

#[test]
fn a_packed_cache_that_can_t_be_written_is_refused_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let full = folder.path().join("full");
    std::fs::write(&full, "something").unwrap();
    let locked = folder.path().join("locked");
    let lock = std::fs::File::create(&locked).unwrap();
    lock.lock().unwrap();
    for (path, word) in [
        (folder.path().join("no/such/folder/packed"), "can't be written"),
        (folder.path().to_owned(), "can't be written"),
        (PathBuf::from("/dev/null"), "not a regular file"),
        (full, "does not hold the weights of"),
        (locked, "another process uses it"),
    ] {
        let error = load(cached_at(&path)).unwrap_err();
        assert!(
            matches!(&error, Error::DelegateOptionRefused { option, reason, .. }
                if option == "packed_cache_path" && reason.contains(word)),
            "{error}"
        );
    }
    let options = XnnpackOptions {
        packed_cache_path: Some(folder.path().join("packed")),
        weight_cache: Some(false),
        ..XnnpackOptions::default()
    };
    assert!(matches!(load(options.try_into().unwrap()), Err(Error::DelegateOptionRefused { .. })));
}

#[test]
fn typed_options_and_those_by_name_are_the_same() {
    let typed: DelegateOptions = XnnpackOptions {
        workspace_sharing: Some(WorkspaceSharing::PerModel),
        weight_cache: Some(true),
        packed_cache_path: Some("packed".into()),
    }
    .try_into()
    .unwrap();
    for mode in ["per-model", "1"] {
        let named = [
            ("packed_cache_path", "packed"),
            ("workspace_sharing_mode", mode),
            ("weight_cache_enabled", "true"),
        ];
        assert_eq!(DelegateOptions::parse("XnnpackBackend", &named).unwrap(), typed);
    }
    let unit = CoreMlOptions { compute_unit: Some(ComputeUnit::CpuAndNeuralEngine), cache_dir: None };
    assert_eq!(
        DelegateOptions::try_from(unit).unwrap(),
        DelegateOptions::parse("coreml", &[("compute_unit", "cpu_and_ne")]).unwrap()
    );
    let mlx = MlxOptions { clear_cache_interval: Some(8) };
    assert_eq!(
        DelegateOptions::try_from(mlx).unwrap(),
        DelegateOptions::parse("mlx", &[("clear_cache_interval", "8")]).unwrap()
    );
    let qnn = QnnOptions {
        log_level: Some(delegate::qnn::LogLevel::Warn),
        htp_performance: Some(delegate::qnn::HtpPerformance::Balanced),
    };
    let named = [("qnn_runtime_log_level", "warn"), ("qnn_runtime_htp_performance_mode", "balanced")];
    assert_eq!(DelegateOptions::try_from(qnn).unwrap(), DelegateOptions::parse("qnn", &named).unwrap());
}

#[test]
fn a_later_value_replaces_an_earlier_one() {
    let mut options = DelegateOptions::parse("xnnpack", &[("weight_cache_enabled", "true")]).unwrap();
    options.set(ID, "weight_cache_enabled", OptionValue::Bool(false)).unwrap();
    assert_eq!(options.iter().count(), 1);
    let other = DelegateOptions::parse("xnnpack", &[("weight_cache_enabled", "true")]).unwrap();
    assert_eq!(options.with(other.clone()), other);
}

#[test]
fn unknown_delegates_options_and_values_are_refused_with_what_is_allowed() {
    let error = DelegateOptions::parse("XnnpckBackend", &[]).unwrap_err();
    let Error::UnknownDelegate { known, why: None, .. } = &error else { panic!("{error}") };
    assert_eq!(known.len(), DELEGATES.len());
    assert!(error.to_string().contains("XnnpackBackend, QnnBackend"), "{error}");

    let error = DelegateOptions::parse(ID, &[("workspace_sharing", "2")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "XnnpackBackend has no option `workspace_sharing`; it has workspace_sharing_mode, weight_cache_enabled, \
         packed_cache_path"
    );
    let error = DelegateOptions::parse("vulkan", &[("anything", "1")]).unwrap_err();
    assert_eq!(error.to_string(), "VulkanBackend has no option `anything`; it has none");

    let long = "x".repeat(256);
    for (key, value, allowed) in [
        ("workspace_sharing_mode", "3", "disabled (0), per-model (1), global (2)"),
        ("workspace_sharing_mode", "true", "disabled (0), per-model (1), global (2)"),
        ("weight_cache_enabled", "1", "true or false"),
        ("packed_cache_path", "", "a path of 1 to 255 bytes"),
        ("packed_cache_path", &long, "a path of 1 to 255 bytes"),
    ] {
        let error = DelegateOptions::parse(ID, &[(key, value)]).unwrap_err();
        assert!(
            matches!(&error, Error::DelegateOptionValue { allowed: found, .. } if found == allowed),
            "{error}"
        );
        assert!(!error.hint().is_empty());
    }
    let error = DelegateOptions::new().set(ID, "weight_cache_enabled", OptionValue::Int(1)).unwrap_err();
    assert!(matches!(error, Error::DelegateOptionValue { .. }), "{error}");
    let error = DelegateOptions::parse("mlx", &[("clear_cache_interval", "-1")]).unwrap_err();
    assert!(error.to_string().contains("a whole number from 0"), "{error}");
}

#[test]
fn nnapi_is_refused_with_what_to_use_instead() {
    for name in ["nnapi", "NNAPI", "NnapiBackend"] {
        let error = delegate::find(name).unwrap_err();
        let Error::UnknownDelegate { why: Some(why), .. } = &error else { panic!("{error}") };
        for instead in ["QnnBackend", "NeuropilotBackend", "EnnBackend", "VulkanBackend", "XnnpackBackend"] {
            assert!(why.contains(instead), "{why}");
            assert_eq!(delegate::find(instead).unwrap().id, instead);
        }
    }
}

#[test]
fn a_delegate_that_is_not_linked_is_not_available() {
    assert_eq!(availability(ID), Availability::Available);
    assert_eq!(availability("CoreMLBackend"), Availability::NotLinked);
    assert_eq!(availability("no such delegate"), Availability::NotLinked);
    assert_eq!(delegate_option("coreml", "compute_unit").unwrap(), None);
}

#[test]
fn every_delegate_is_described_and_has_a_name_of_its_own() {
    for (index, one) in DELEGATES.iter().enumerate() {
        assert_eq!(delegate::find(&one.short_name.to_uppercase()).unwrap().id, one.id);
        assert!(DELEGATES[..index].iter().all(|other| other.id != one.id));
        for text in [one.name, one.needs, one.absence, one.tested] {
            assert!(!text.is_empty(), "{}", one.id);
        }
        assert!(!one.platforms.is_empty());
        for option in one.options {
            // ExecuTorch keeps 63 bytes of a name.
            assert!(option.key.len() < 64 && !option.meaning.is_empty() && !option.default.is_empty());
            if let OptionKind::Int { min, max } = option.kind {
                assert!(min < max, "{}", option.key);
            }
        }
    }
}

#[test]
fn the_documentation_has_every_delegate_and_option() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/delegates.md");
    let page = std::fs::read_to_string(page).unwrap();
    for delegate in DELEGATES {
        assert!(page.contains(&format!("| {} | `{}` |", delegate.name, delegate.id)), "{}", delegate.id);
        for option in delegate.options {
            assert!(page.contains(&format!("| `{}` |", option.key)), "{}", option.key);
            if let OptionKind::Choice(choices) = option.kind {
                assert!(
                    choices.iter().all(|(name, _)| page.contains(&format!("`{name}`"))),
                    "{}",
                    option.key
                );
            }
        }
    }
}
