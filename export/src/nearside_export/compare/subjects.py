"""What is compared: variants of packages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nearside_export.errors import UsageError
from nearside_export.manifest import Describe, Generate, Manifest, Task, Variant
from nearside_export.package import check_files
from nearside_export.runtime import nearside
from nearside_export.sources.model import Tokenizer


@dataclass(frozen=True)
class Subject:
    """A variant of the package in the folder ``package``, which ``letter`` stands for."""

    letter: str
    package: Path
    manifest: Manifest
    variant: Variant

    @property
    def task(self) -> Task:
        """What the manifest says for its task."""
        return self.manifest.task

    def __str__(self) -> str:
        return f"{self.letter} ({self.package.name}:{self.variant.name})"

    def program(self, threads: int, cli: Path) -> nearside.Program:
        """Start a process of the command ``cli`` that runs its methods."""
        data = [self.package / file.path for file in self.variant.external_data]
        source = self.package / self.variant.program.path
        both = self.variant.prefill_and_decode
        share = both if len(both) > 1 else ()
        return nearside.Program(source, data, share=share, threads=threads, cli=cli)


def open_subjects(names: Sequence[str]) -> list[Subject]:
    """Open packages by ``PACKAGE`` (all of its variants) or ``PACKAGE:VARIANT``.

    `PackageError` for a package that is missing or damaged and a variant that it does not have,
    `UsageError` for fewer than two variants and for different tasks.
    """
    found = [pair for name in names for pair in _open(name)]
    if len(found) < 2:
        raise UsageError(
            "there is one variant, and nothing to compare it with: give two packages or more, or "
            "one that has several variants"
        )
    subjects = [
        Subject(_letter(place), package, manifest, variant)
        for place, (package, manifest, variant) in enumerate(found)
    ]
    first = subjects[0]
    for other in subjects[1:]:
        if other.task.NAME != first.task.NAME:
            raise UsageError(
                f"{first} is for the task {first.task.NAME}, {other} for {other.task.NAME}: only "
                "packages of one task can be compared"
            )
    return subjects


def tokenizer(subject: Subject, task: Generate | Describe) -> Tokenizer:
    """Read the tokenizer of a package that writes."""
    facts = task.generation
    return Tokenizer(
        json=(subject.package / task.tokenizer.path).read_text(encoding="utf-8"),
        chat_template=None,
        bos_id=facts.bos_id,
        eos_ids=tuple(facts.eos_ids),
        add_bos=facts.add_bos,
    )


def _open(name: str) -> list[tuple[Path, Manifest, Variant]]:
    package, wanted = Path(name), ""
    # A folder may have a colon in its name.
    if not package.exists() and ":" in name:
        folder, _, wanted = name.rpartition(":")
        package = Path(folder)
    manifest = Manifest.read(package)
    variants = [manifest.variant(wanted)] if wanted else manifest.variants
    check_files(package, manifest)
    return [(package, manifest, variant) for variant in variants]


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"V{place + 1}"
