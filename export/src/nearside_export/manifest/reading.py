"""JSON values to dataclasses, strictly: each field there, none unknown, each of its type.

A field that has a default may be left out; one whose default is ``None`` is left out when it is
written. ``null`` is only for fields that must be there and may have no value. What is made by a
``default_factory`` is a convenience for callers and must be there in JSON.
"""

from __future__ import annotations

import dataclasses
import math
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nearside_export.errors import PackageError

T = TypeVar("T")

_KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def read(cls: type[T], raw: Any, place: str, overrides: dict[str, Any] | None = None) -> T:  # noqa: ANN401
    """Make a ``cls`` of the JSON object ``raw``, which stands at ``place`` in the manifest.

    ``overrides`` gives other types for some fields. `PackageError` names the place and what is
    missing, unknown, of another type or out of range.
    """
    if not isinstance(raw, dict):
        raise _wrong(place, f"is {_kind(raw)}, it must be an object")
    hints = get_type_hints(cls) | (overrides or {})
    fields = {f.name: f for f in dataclasses.fields(cls)}
    if unknown := [name for name in raw if name not in fields]:
        raise _wrong(place, f"has the unknown field {unknown[0]!r}; known: {', '.join(fields)}")
    values = {}
    for name, field in fields.items():
        if name in raw:
            kind = _present(hints[name]) if field.default is None else hints[name]
            values[name] = _value(kind, raw[name], f"{place}.{name}" if place else name)
        elif _is_required(field):
            raise _wrong(place, f"has no field {name!r}")
    try:
        return cls(**values)
    except ValueError as error:
        raise _wrong(place, str(error)) from error


def write(value: Any) -> Any:  # noqa: ANN401
    """Give ``value`` as JSON values: the inverse of `read`."""
    if dataclasses.is_dataclass(value):
        return {
            f.name: write(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if not (f.default is None and getattr(value, f.name) is None)
        }
    if isinstance(value, list | tuple):
        return [write(v) for v in value]
    return value


def _value(kind: Any, raw: Any, place: str) -> Any:  # noqa: ANN401
    if kind is Any:
        return raw
    if dataclasses.is_dataclass(kind):
        return read(kind, raw, place)
    origin = get_origin(kind)
    if origin is Literal:
        return _choice(kind, raw, place)
    if origin in (Union, types.UnionType):
        return None if raw is None else _value(_present(kind), raw, place)
    if origin in (list, tuple):
        return _sequence(kind, raw, place)
    # Python counts true and false among the whole numbers, JSON does not.
    fits = isinstance(raw, kind) and (kind is bool or not isinstance(raw, bool))
    if kind is float and isinstance(raw, int | float) and not isinstance(raw, bool):
        return _finite(raw, place)
    if not fits:
        raise _wrong(place, f"is {_kind(raw)}, it must be {_KINDS[kind]}")
    return raw


def _finite(raw: float, place: str) -> float:
    """Give a number as f64: JSON has larger ones."""
    try:
        value = float(raw)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise _wrong(place, "is a number too large to be read")
    return value


def _choice(kind: Any, raw: Any, place: str) -> Any:  # noqa: ANN401
    choices = get_args(kind)
    # By type too: in Python 8 is 8.0, and true is 1.
    if not any(type(raw) is type(c) and raw == c for c in choices):
        found = repr(raw) if isinstance(raw, str | int | float) else _kind(raw)
        raise _wrong(place, f"is {found}, it must be one of {', '.join(map(str, choices))}")
    return raw


def _sequence(kind: Any, raw: Any, place: str) -> Any:  # noqa: ANN401
    if not isinstance(raw, list):
        raise _wrong(place, f"is {_kind(raw)}, it must be a list")
    items = get_args(kind)
    if get_origin(kind) is list:
        return [_value(items[0], v, f"{place}[{i}]") for i, v in enumerate(raw)]
    if len(raw) != len(items):
        raise _wrong(place, f"has {len(raw)} entries, it must have {len(items)}")
    return tuple(
        _value(k, v, f"{place}[{i}]") for i, (k, v) in enumerate(zip(items, raw, strict=True))
    )


def _present(kind: Any) -> Any:  # noqa: ANN401
    """``T`` of ``T | None``."""
    (only,) = [k for k in get_args(kind) if k is not type(None)]
    return only


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING


def _kind(raw: Any) -> str:  # noqa: ANN401
    return _KINDS.get(type(raw), type(raw).__name__)


def _wrong(place: str, reason: str) -> PackageError:
    return PackageError(f"manifest.json does not follow the schema: {place or 'it'} {reason}")
