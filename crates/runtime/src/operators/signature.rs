//! The signatures of the operators that ExecuTorch's kernel libraries register.

use std::collections::HashMap;
use std::sync::OnceLock;

/// One schema a line, as `nearside-export operators` wrote it.
const TABLE: &str = include_str!("signatures.txt");

/// What an operator takes and writes.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The arguments in the order in which a kernel call passes them, those that are written included.
    pub(crate) args: Vec<Arg>,
    /// What the kernel assigns to the value that follows the arguments.
    pub(crate) result: ResultSlot,
}

/// An argument.
#[derive(Debug)]
pub(crate) struct Arg {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether it may be `None`.
    pub(crate) optional: bool,
    /// What the kernel does to the tensor, or to the tensors of the list.
    pub(crate) access: Access,
}

/// What a kernel does to a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Changes a part of it, or all.
    InPlace,
    /// Overwrites it, and may resize it.
    Out,
}

impl Access {
    pub(crate) fn writes(self) -> bool {
        self != Self::Read
    }
}

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tensor,
    Int,
    Float,
    Bool,
    /// Any number or a truth value.
    Scalar,
    String,
    IntList,
    FloatList,
    BoolList,
    TensorList,
    OptionalTensorList,
}

/// The value after the arguments. Generated wrappers count it and, where there is an out argument, leave it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultSlot {
    /// There is none.
    Absent,
    /// Present and not touched.
    Unused,
    /// A number or truth value is assigned to it.
    Number,
    /// It becomes the tensor that was changed in place.
    Tensor,
}

impl Signature {
    /// How many values a call passes. ExecuTorch refuses any other number.
    pub(crate) fn values(&self) -> usize {
        self.args.len() + usize::from(self.result != ResultSlot::Absent)
    }
}

/// The operator's signature; `None` for one that ExecuTorch's libraries don't have.
pub(crate) fn of(operator: &str) -> Option<&'static Signature> {
    static SIGNATURES: OnceLock<HashMap<&'static str, Signature>> = OnceLock::new();
    SIGNATURES
        .get_or_init(|| TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect())
        .get(operator)
}

fn parse(line: &'static str) -> Option<(&'static str, Signature)> {
    let (name, rest) = line.split_once('(')?;
    let (args, returns) = rest.rsplit_once(") -> ")?;
    // Those that follow `*` are given by name; outs are always.
    let mut named = false;
    let mut list = Vec::new();
    for arg in args.split(", ").filter(|arg| !arg.is_empty()) {
        if arg == "*" {
            named = true;
        } else {
            list.push(parse_arg(arg, named)?);
        }
    }
    let args: Vec<Arg> = list;
    let result = match returns {
        // et_copy_index: its caller passes the arguments only.
        "()" if !args.last()?.access.writes() => ResultSlot::Absent,
        // et_view is written by hand too, and gets no more than its out.
        "()" if name == "executorch_prim::et_view.default" => ResultSlot::Absent,
        "int" | "bool" | "Scalar" | "SymInt" => ResultSlot::Number,
        _ if args.last()?.access == Access::Out => ResultSlot::Unused,
        _ => ResultSlot::Tensor,
    };
    Some((name, Signature { args, result }))
}

fn parse_arg(text: &'static str, named: bool) -> Option<Arg> {
    let text = text.split('=').next()?;
    let (ty, name) = text.rsplit_once(' ')?;
    let (ty, written) = match ty.split_once('(') {
        // `Tensor(a!)` or `Tensor(a!)[]`
        Some(("Tensor", after)) if after.ends_with("[]") => ("Tensor[]", true),
        Some(("Tensor", _)) => ("Tensor", true),
        Some(_) => return None,
        None => (ty, false),
    };
    let (ty, optional) = ty.strip_suffix('?').map_or((ty, false), |ty| (ty, true));
    let kind = match ty.split_once('[') {
        Some(("int" | "SymInt", _)) => Kind::IntList,
        Some(("float", _)) => Kind::FloatList,
        Some(("bool", _)) => Kind::BoolList,
        Some(("Tensor", _)) => Kind::TensorList,
        Some(("Tensor?", _)) => Kind::OptionalTensorList,
        Some(_) => return None,
        None => match ty {
            "Tensor" => Kind::Tensor,
            "int" | "SymInt" | "ScalarType" | "MemoryFormat" => Kind::Int,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            "Scalar" => Kind::Scalar,
            "str" => Kind::String,
            _ => return None,
        },
    };
    let access = match (written, named) {
        (false, _) => Access::Read,
        (true, false) => Access::InPlace,
        (true, true) => Access::Out,
    };
    Some(Arg { name, kind, optional, access })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let lines: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        for line in &lines {
            assert!(parse(line).is_some(), "{line}");
        }
        assert!(lines.len() > 250);
    }

    #[test]
    fn every_registered_operator_has_a_signature() {
        let registered = crate::registered_operators();
        assert!(registered.len() > 250, "{}", registered.len());
        for name in registered {
            assert!(of(&name).is_some(), "{name} has no signature: run `nearside-export operators`");
        }
    }

    #[test]
    fn a_guard_stands_before_calls_of_the_right_length() {
        let guards = crate::bridge::ffi::guarded_operators();
        assert!(guards.len() > 40, "{}", guards.len());
        for guard in guards {
            let signature = of(&guard.name).unwrap_or_else(|| panic!("there is no {}", guard.name));
            assert_eq!(guard.values, signature.values(), "{}", guard.name);
        }
    }

    #[test]
    fn kinds_and_written_arguments_are_read() {
        let add = of("aten::add.out").unwrap();
        let kinds: Vec<_> = add.args.iter().map(|arg| (arg.name, arg.kind, arg.access)).collect();
        assert_eq!(
            kinds,
            [
                ("self", Kind::Tensor, Access::Read),
                ("other", Kind::Tensor, Access::Read),
                ("alpha", Kind::Scalar, Access::Read),
                ("out", Kind::Tensor, Access::Out)
            ]
        );
        assert_eq!((add.result, add.values()), (ResultSlot::Unused, 5));
        assert_eq!(of("aten::copy_").unwrap().result, ResultSlot::Tensor);
        assert_eq!(of("aten::sym_size.int").unwrap().result, ResultSlot::Number);
        assert_eq!(of("aten::split_copy.Tensor_out").unwrap().values(), 4 + 1);
        assert_eq!(of("executorch_prim::et_view.default").unwrap().values(), 3);
        assert_eq!(of("executorch_prim::et_copy_index.tensor").unwrap().values(), 3);
        assert_eq!(of("aten::index_put_").unwrap().args[0].access, Access::InPlace);
        let index = of("aten::index.Tensor_out").unwrap();
        assert_eq!(index.args[1].kind, Kind::OptionalTensorList);
    }
}
