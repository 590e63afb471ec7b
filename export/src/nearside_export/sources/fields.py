"""Typed access to a configuration: each fault names the file and the field, and what to do."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nearside_export.errors import SourceError, UnsupportedError

T = TypeVar("T")
_REQUIRED: Any = object()
MAX_CONFIG_BYTES = 64 << 20
"""No configuration comes near it; a larger file is not one."""


class Fields:
    """A JSON object of ``file``, at ``path`` inside it (empty at its root).

    Getters return ``default`` where the field is absent or null, and raise `SourceError` where it
    has another type, is out of range, or is absent and no default is given.
    """

    def __init__(self, raw: Mapping[str, Any], file: str, path: str = "") -> None:
        self.raw = raw
        self.file = file
        self.path = path

    @classmethod
    def read(cls, path: Path) -> Fields:
        """Read a JSON file whose root is an object; ``file`` is its name."""
        return cls(read_object(path), path.name)

    def __contains__(self, name: str) -> bool:
        return self.raw.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def name(self, field: str) -> str:
        """Spell a field as messages do: ``config.json: text_config.hidden_size``."""
        return f"{self.file}: {self.path}{field}"

    def integer(self, field: str, default: T = _REQUIRED, minimum: int = 1) -> int | T:
        """Get a whole number of at least ``minimum``."""
        value = self._get(field, default)
        if value is default:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._mistyped(field, value, "a whole number")
        if not minimum <= value < 2**53:
            raise SourceError(
                f"{self.name(field)} is {value}, but must be at least {minimum} and below 2^53. "
                "The file is damaged or belongs to another kind of model"
            )
        return value

    def number(self, field: str, default: T = _REQUIRED, above: float = 0.0) -> float | T:
        """Get a finite number above ``above``."""
        value = self._get(field, default)
        if value is default:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mistyped(field, value, "a number")
        if not _finite(value) or not value > above:
            shown = str(value) if len(str(value)) <= 40 else f"{str(value)[:40]}…"
            raise SourceError(
                f"{self.name(field)} is {shown}, but must be finite and above {above}. "
                "Correct the file or fetch it again"
            )
        return float(value)

    def boolean(self, field: str, default: T = _REQUIRED) -> bool | T:
        """Get true or false."""
        value = self._get(field, default)
        if value is default:
            return default
        if not isinstance(value, bool):
            raise self._mistyped(field, value, "true or false")
        return value

    def text(self, field: str, default: T = _REQUIRED) -> str | T:
        """Get a string."""
        value = self._get(field, default)
        if value is default:
            return default
        if not isinstance(value, str):
            raise self._mistyped(field, value, "a string")
        return value

    def texts(self, field: str, default: T = _REQUIRED) -> list[str] | T:
        """Get a list of strings."""
        value = self._get(field, default)
        if value is default:
            return default
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self._mistyped(field, value, "a list of strings")
        return value

    def numbers(self, field: str, default: T = _REQUIRED) -> list[float] | T:
        """Get a list of finite numbers."""
        value = self._get(field, default)
        if value is default:
            return default
        if not isinstance(value, list) or not all(
            isinstance(v, int | float) and not isinstance(v, bool) and _finite(v) for v in value
        ):
            raise self._mistyped(field, value, "a list of finite numbers")
        return [float(v) for v in value]

    def ids(self, field: str) -> list[int]:
        """Get token ids: one number or a list of them; empty where there is none."""
        value = self.raw.get(field)
        if value is None:
            return []
        ids = value if isinstance(value, list) else [value]
        if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < 2**53 for i in ids):
            raise self._mistyped(field, value, "a token id or a list of them")
        return ids

    def child(self, field: str, default: T = _REQUIRED) -> Fields | T:
        """Get an object inside this one."""
        value = self._get(field, default)
        if value is default:
            return default
        if not isinstance(value, Mapping):
            raise self._mistyped(field, value, "an object")
        return Fields(value, self.file, f"{self.path}{field}.")

    def refuse(self, field: str, why: str, allowed: tuple[Any, ...] = ()) -> None:
        """`UnsupportedError` where ``field`` has a value that is not null, false or ``allowed``."""
        value = self.raw.get(field)
        if value is None or value is False or value in allowed:
            return
        shown = json.dumps(value, default=str)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        raise UnsupportedError(f"{self.name(field)} is {shown}: {why}")

    def _get(self, field: str, default: T) -> Any:  # noqa: ANN401
        value = self.raw.get(field)
        if value is not None:
            return value
        if default is _REQUIRED:
            raise SourceError(
                f"{self.name(field)} is missing. The exporter can't guess it: fetch the model's "
                "files again, or add the field from the model's documentation"
            )
        return default

    def _mistyped(self, field: str, value: object, want: str) -> SourceError:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        return SourceError(
            f"{self.name(field)} must be {want}, but is {shown}. Correct the file or fetch it again"
        )


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # A whole number beyond f64.
        return False


def read_object(path: Path) -> dict[str, Any]:
    """Parse a JSON file whose root is an object; `SourceError` says what is wrong with the file."""
    raw = read_json(path, "Copy the whole model folder, with its configuration and tokenizer")
    if not isinstance(raw, dict):
        raise SourceError(f"{path} must hold a JSON object. Fetch it again")
    return raw


def read_json(path: Path, where_missing: str) -> Any:  # noqa: ANN401
    """Parse a JSON file; ``where_missing`` says what to do if it is not there. `SourceError`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{path} is not a file. {where_missing}")
        if status.st_size > MAX_CONFIG_BYTES:
            raise SourceError(f"{path} is larger than {MAX_CONFIG_BYTES >> 20} MiB: not a config")
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceError(f"{path} is missing. {where_missing}") from None
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        # Not only what is no JSON: Python reads no whole number of more than 4300 digits.
        raise SourceError(f"{path} can't be read as JSON: {error}. Fetch it again") from error
