"""The model package's ``manifest.json``, schema version 1.

Dataclasses mirror the JSON one to one: :mod:`.manifest` the whole, :mod:`.tasks` what one task
alone says, :mod:`.variant` an exported program, :mod:`.quality` what was measured of it. The Rust
reader refuses unknown fields, and the schema is published as ``docs/manifest.schema.json``; change
all three together.
"""

from nearside_export.manifest.files import FileRef
from nearside_export.manifest.manifest import FILE_NAME, SCHEMA_VERSION, Manifest
from nearside_export.manifest.quality import (
    ClassifyGate,
    ClassifyQuality,
    DescribeGate,
    DescribeQuality,
    EmbedGate,
    EmbedQuality,
    GenerateGate,
    GenerateQuality,
    Quality,
)
from nearside_export.manifest.tasks import (
    Classify,
    Describe,
    Embed,
    EmbeddingFacts,
    Generate,
    GenerationDefaults,
    GenerationFacts,
    Task,
    VisionFacts,
)
from nearside_export.manifest.variant import MethodFacts, Variant

__all__ = [
    "FILE_NAME",
    "SCHEMA_VERSION",
    "Classify",
    "ClassifyGate",
    "ClassifyQuality",
    "Describe",
    "DescribeGate",
    "DescribeQuality",
    "Embed",
    "EmbedGate",
    "EmbedQuality",
    "EmbeddingFacts",
    "FileRef",
    "Generate",
    "GenerateGate",
    "GenerateQuality",
    "GenerationDefaults",
    "GenerationFacts",
    "Manifest",
    "MethodFacts",
    "Quality",
    "Task",
    "Variant",
    "VisionFacts",
]
