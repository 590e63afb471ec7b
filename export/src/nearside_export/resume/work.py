"""Kept results of one export.

A result that is damaged, or that the disk has no room for, costs time only: it is made again, and a
note says so. What is read is what was written, so that a resumed export gives the same bytes.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearside_export.errors import QualityError
from nearside_export.progress import say
from nearside_export.resume import container, folder, identity

if TYPE_CHECKING:
    from nearside_export.lower.program import LoweredProgram
    from nearside_export.quantise.integer_linear import Rounded


class Work:
    """Results in ``place``, by name; null keeps nothing. ``prefix`` stands before all names."""

    def __init__(self, place: Path | None, prefix: str = "") -> None:
        self._place = place
        self._prefix = prefix

    def part(self, prefix: str) -> Work:
        """Give the results whose names begin with ``prefix``, by the rest of their names."""
        return Work(self._place, f"{self._prefix}{prefix}-")

    def load(self, name: str) -> tuple[dict[str, Any], dict[str, memoryview]] | None:
        """Facts and parts that were kept; null where there are none that are whole."""
        if self._place is None:
            return None
        try:
            return container.read(self._place / f"{self._prefix}{name}")
        except FileNotFoundError:
            return None
        except (container.DamagedError, OSError) as error:
            say(f"kept work can't be used and is made again: {error}")
            (self._place / f"{self._prefix}{name}").unlink(missing_ok=True)
            return None

    def keep(self, name: str, facts: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
        """Keep a result."""
        if self._place is None:
            return
        try:
            container.write(self._place / f"{self._prefix}{name}", facts, parts)
        except OSError as error:
            say(f"{name} can't be kept for a later export: {error}. Going on without")

    def forget(self, prefix: str) -> None:
        """Remove the results whose names begin with ``prefix``."""
        if self._place is not None:
            for path in self._place.glob(f"{self._prefix}{prefix}*"):
                path.unlink(missing_ok=True)

    def weights(self, name: str) -> tuple[dict[str, Any], dict[str, Rounded]] | None:
        """Facts and rounded weights that were kept."""
        kept = self.load(name)
        if kept is None:
            return None
        import torch

        from nearside_export.quantise.integer_linear import Rounded

        facts, parts = kept
        weights: dict[str, dict[str, Any]] = {}
        for path, (kind, shape) in facts["tensors"].items():
            weight, _, field = path.rpartition(":")
            dtype = {"int8": torch.int8, "float32": torch.float32}[kind]
            tensor = torch.frombuffer(parts[path], dtype=dtype).reshape(shape).clone()
            weights.setdefault(weight, {})[field] = tensor
        bits = facts["bits"]
        return facts["facts"], {w: Rounded(bits[w], **t) for w, t in weights.items()}

    def keep_weights(
        self, name: str, weights: Mapping[str, Rounded], facts: Mapping[str, Any] | None = None
    ) -> None:
        """Keep rounded weights."""
        parts = {
            f"{path}:{field}": tensor.contiguous().numpy()
            for path, weight in weights.items()
            for field in ("ints", "scales", "offsets")
            if (tensor := getattr(weight, field)) is not None
        }
        tensors = {path: [str(array.dtype), list(array.shape)] for path, array in parts.items()}
        bits = {path: weight.bits for path, weight in weights.items()}
        self.keep(name, {"facts": dict(facts or {}), "tensors": tensors, "bits": bits}, parts)

    def program(
        self, name: str, make: Callable[[], tuple[LoweredProgram, dict[str, Any]]]
    ) -> tuple[LoweredProgram, dict[str, Any]]:
        """Give the lowered program ``name`` with facts about it: as it was kept, or made now."""
        from nearside_export.lower.program import LoweredProgram
        from nearside_export.manifest import MethodFacts

        kept = self.load(f"program-{name}")
        if kept is not None:
            facts, parts = kept
            say(f"{name}: lowered by an earlier export that did not end; goes on from there")
            methods = [MethodFacts(**m) for m in facts["program"].pop("methods")]
            data = {n: bytes(parts[f"data/{n}"]) for n in facts["data"]}
            pte = bytes(parts["pte"])
            lowered = LoweredProgram(**facts["program"], methods=methods, pte=pte, data=data)
            return lowered, facts["facts"]
        lowered, facts = make()
        described = {
            f.name: getattr(lowered, f.name)
            for f in dataclasses.fields(lowered)
            if f.name not in ("pte", "data", "methods")
        }
        described["methods"] = [dataclasses.asdict(m) for m in lowered.methods]
        parts = {"pte": lowered.pte, **{f"data/{n}": d for n, d in lowered.data.items()}}
        self.keep(
            f"program-{name}",
            {"program": described, "facts": facts, "data": list(lowered.data)},
            parts,
        )
        return lowered, facts


NO_WORK = Work(None)
"""Keeps nothing."""


@dataclass(frozen=True)
class Keeping:
    """How to keep results: in folders inside ``root`` (null: not at all), by what they are made of.

    ``resume`` takes up what is there; else it is thrown away first. ``source`` is the content that
    is exported (`identity.files`).
    """

    root: Path | None = None
    resume: bool = True
    source: Any = None

    @contextmanager
    def work(self, options: dict[str, Any]) -> Iterator[Work]:
        """Give the work of the export with ``options``; gone once the block ends well.

        Nor is it kept where quality is too low: nothing more could come of it.
        """
        if self.root is None:
            yield NO_WORK
            return
        try:
            lock = folder.locked(self.root, identity.key(self.source, options))
            place = lock.__enter__()
        except OSError as error:
            say(f"results can't be kept in {self.root}: {error}. Going on without")
            yield NO_WORK
            return
        if place is None:
            say("the same export is running elsewhere: results of this one are not kept")
        done = False
        try:
            if place is not None and not self.resume:
                _empty(place)
            try:
                yield Work(place)
                done = True
            except QualityError:
                done = True
                raise
        finally:
            if done and place is not None:
                shutil.rmtree(place, ignore_errors=True)
            lock.__exit__(None, None, None)


def _empty(place: Path) -> None:
    for path in place.iterdir():
        path.unlink(missing_ok=True)


NOTHING_KEPT = Keeping()
