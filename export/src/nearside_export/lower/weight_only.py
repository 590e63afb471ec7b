"""Linear layers of 8-bit weights and f32 activations, for XNNPACK's partitioner.

XNNPACK has kernels for them (``f32_qc8w``). ExecuTorch's partitioner takes a layer with an integer
weight for one with integer activations and leaves it: its weight would be made f32 at every call.
"""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.partition.config.gemm_configs import LinearConfig
from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
from executorch.backends.xnnpack.utils.quant_utils import (
    is_dequant,
    is_per_channel,
    tag_as_implicit_q_dq,
)
from executorch.backends.xnnpack.utils.utils import get_input_node
from torch.export import ExportedProgram


class WeightOnlyLinearConfig(LinearConfig):
    """`LinearConfig` that takes f32 activations beside integer weights too."""

    def get_deps(
        self, node: torch.fx.Node, ep: ExportedProgram
    ) -> tuple[bool, list[torch.fx.Node]]:
        """Say whether the layer is taken, and which nodes are with it."""
        weight = get_input_node(node, self.weight_idx)
        activation = get_input_node(node, self.act_idx)
        integer = is_dequant(weight) and is_per_channel(weight)
        if not integer or is_dequant(activation) or len(node.args) > self.bias_idx:
            return super().get_deps(node, ep)
        taken, dependencies = self._get_weight_deps(node, ep, ConfigPrecisionType.STATIC_QUANT)
        if taken:
            tag_as_implicit_q_dq(weight)
        return taken, dependencies


CONFIGS = [
    WeightOnlyLinearConfig if config is LinearConfig else config
    for config in ALL_PARTITIONER_CONFIGS
]
"""All of XNNPACK's, with `WeightOnlyLinearConfig` in its place."""
