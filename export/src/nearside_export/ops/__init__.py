"""Operators of ours, one file each: their ``torch.library`` definitions with an eager reference.

The kernels are in ``crates/runtime/src/kernels``, under the same names. ExecuTorch's own runtimes
do not have them.
"""

from nearside_export.ops import (
    add_rms_norm,
    attention,
    embedding,
    gated,
    linear,
    rms_norm,
    rope_table,
    rotary_attention,
)

KERNELS = tuple(
    f"{operator.NAME}.out"
    for operator in (
        add_rms_norm,
        attention,
        embedding,
        gated,
        linear,
        rms_norm,
        rope_table,
        rotary_attention,
    )
)
"""Names by which programs call the kernels."""
