"""Linear layers with integer weights, in the forms that XNNPACK's kernels are found by.

Weights have 8 bits and a scale a row, or 4 bits and a scale for each group of columns. Activations
are quantised to 8 bits, row by row, when the program runs; beside 8-bit weights they can stay f32.
"""

from __future__ import annotations

# Defines torch.ops.quantized_decomposed.dequantize_per_channel.
import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401
import torch
from torch.nn import functional
from torchao.quantization.quantize_.workflows.intx.intx_unpacked_to_int8_tensor import (
    IntxUnpackedToInt8Tensor,
    IntxUnpackedToInt8TensorActivationQuantization,
)

from nearside_export.quantise.rounded import LIMITS, Rounded

_TYPES = {8: torch.int8, 4: torch.int4}


class OffsetLinear(torch.nn.Module):
    """A linear layer whose weight has an offset a group: ``x @ ints^T + sums(x) @ offsets^T``.

    XNNPACK's 4-bit kernels know scales only. What the offsets add depends on the sum of the
    activations in each group alone, so that it is a product 32 times smaller than the layer's own.
    ``sums`` f32 ``[groups, columns]`` adds a group's activations up (see `group_sums`).
    """

    def __init__(self, linear: torch.nn.Linear, offsets: torch.Tensor, sums: torch.Tensor) -> None:
        super().__init__()
        self.linear = linear
        self.register_buffer("offsets", offsets, persistent=False)
        self.register_buffer("sums", sums, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """f32 ``[..., columns]`` to ``[..., rows]``."""
        return self.linear(x) + functional.linear(functional.linear(x, self.sums), self.offsets)


class WeightOnlyLinear(torch.nn.Module):
    """A linear layer of 8-bit weights and f32 activations.

    ``ints`` i8 ``[rows, columns]``, ``scales`` f32 ``[rows]``. The bias is a sum of its own:
    ExecuTorch's linear operator takes none beside an integer weight and f32 activations.
    """

    def __init__(self, weight: Rounded, bias: torch.nn.Parameter | None) -> None:
        super().__init__()
        self.register_buffer("ints", weight.ints)
        self.register_buffer("scales", weight.scales.squeeze(1))
        self.register_buffer("zeros", torch.zeros(len(weight.ints), dtype=torch.int64))
        self.bias = bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """f32 ``[..., columns]`` to ``[..., rows]``."""
        weight = torch.ops.quantized_decomposed.dequantize_per_channel(
            self.ints, self.scales, self.zeros, 0, *LIMITS[8], torch.int8
        )
        product = functional.linear(x, weight)
        return product if self.bias is None else product + self.bias


def group_sums(columns: int, group_size: int) -> torch.Tensor:
    """Matrix f32 ``[columns / group_size, columns]`` that sums up each group."""
    return torch.eye(columns // group_size).repeat_interleave(group_size, dim=1)


def install(model: torch.nn.Module, name: str, weight: Rounded) -> None:
    """Put ``weight`` into the ``torch.nn.Linear`` called ``name``; its bias stays."""
    linear = model.get_submodule(name)
    linear.weight = torch.nn.Parameter(_tensor(weight), requires_grad=False)
    if weight.offsets is not None:
        sums = group_sums(weight.ints.shape[1], weight.group_size)
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, OffsetLinear(linear, weight.offsets, sums))


def install_weight_only(model: torch.nn.Module, name: str, weight: Rounded) -> None:
    """Put ``weight`` of 8 bits in the place of the ``torch.nn.Linear`` called ``name``."""
    bias = model.get_submodule(name).bias
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, WeightOnlyLinear(weight, bias))


def uninstall(model: torch.nn.Module, name: str, weight: torch.nn.Parameter) -> None:
    """Give the layer called ``name`` the ``weight`` back that it had before `install`."""
    layer = model.get_submodule(name)
    if isinstance(layer, OffsetLinear):
        layer = layer.linear
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, layer)
    layer.weight = weight


def quantised_activations(x: torch.Tensor) -> torch.Tensor:
    """Round f32 ``[..., columns]`` to 8 bits a row, as the kernels do, and give it back as f32."""
    low = x.amin(-1, keepdim=True).clamp(max=0)
    high = x.amax(-1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 255).clamp(min=torch.finfo(torch.float32).eps)
    zero = (-128 - low / scale).round().clamp(-128, 127)
    return ((x / scale).round() + zero).clamp(-128, 127).sub(zero) * scale


def _tensor(weight: Rounded) -> IntxUnpackedToInt8Tensor:
    return IntxUnpackedToInt8Tensor(
        qdata=weight.ints,
        scale=weight.scales,
        zero_point=torch.zeros_like(weight.scales, dtype=torch.int8),
        target_dtype=_TYPES[weight.bits],
        block_size=(1, weight.group_size),
        dtype=torch.float32,
        activation_quantization=(
            IntxUnpackedToInt8TensorActivationQuantization.INT8_ASYM_PER_TOKEN
        ),
    )
