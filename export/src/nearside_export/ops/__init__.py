"""Operators of ours, one file each: their ``torch.library`` definitions with an eager reference.

The kernels are in ``crates/runtime/src/kernels``, under the same names. ExecuTorch's own runtimes
do not have them.
"""

from nearside_export.ops import attention

KERNELS = (f"{attention.NAME}.out",)
"""Names by which programs call the kernels."""
