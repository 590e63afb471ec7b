"""ExecuTorch's XNNPACK quantizer, with the choices that keep a vision network near fp32.

- *Convolution + clamp.* The stock quantizer fuses convolution + ReLU only. Before ReLU6
  (``hardtanh``) it quantises the convolution's unclamped output, whose range may be ten times the
  0..6 that survives: EfficientNet-Lite0 loses 10 dB to it. XNNPACK clamps inside the convolution,
  so nothing needs that tensor.
- *Padding* keeps its input's scale, so that it moves int8 values.
- *The classifier head* takes float features (pooled in float) and quantises them dynamically.
  Static logits saturate at the largest logit that calibration happened to see, which costs
  confident answers their confidence.
- *Float modules.* The first layers of a network see the most of its noise and hold the fewest
  weights: an architecture may name modules that stay float.
"""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer_utils import propagate_annotation
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, SharedQuantizationSpec
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

_CLAMPS = (torch.ops.aten.hardtanh.default, torch.ops.aten.hardtanh_.default)
_CONV = torch.ops.aten.conv2d.default
_LINEAR = torch.ops.aten.linear.default
_PAD = torch.ops.aten.pad.default
_POOL = torch.ops.aten.adaptive_avg_pool2d.default


class VisionQuantizer(XNNPACKQuantizer):
    """Static int8 convolutions with per-channel weights, dynamic int8 linear layers.

    ``float_modules`` are names of modules whose operators, and those inside, stay float.
    """

    def __init__(self, float_modules: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._float_modules = float_modules
        self.set_global(get_symmetric_quantization_config(is_per_channel=True))
        dynamic = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
        self.set_operator_type(_LINEAR, dynamic)

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Annotate ``model`` in place and return it."""
        for node in model.graph.nodes:
            if node.op == "call_function" and _inside(node, self._float_modules):
                # Annotated with nothing: stays float, and nobody annotates it later.
                node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(_annotated=True)
        self._annotate_clamped_convolutions(model)
        for pool in _calls(model, (_POOL,)):
            pool.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(_annotated=True)
        model = self._annotate_for_quantization_config(model)
        self._annotate_pads(model)
        propagate_annotation(model)
        return model

    def _annotate_clamped_convolutions(self, model: torch.fx.GraphModule) -> None:
        config = self.global_config
        for clamp in _calls(model, _CLAMPS):
            conv = clamp.args[0]
            if conv.target != _CONV or len(conv.users) > 1 or _is_float(conv):
                continue
            # XNNPACK makes the int32 bias itself, from input and weight scales.
            conv.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                input_qspec_map={
                    conv.args[0]: config.input_activation,
                    conv.args[1]: config.weight,
                },
                _annotated=True,
            )
            clamp.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                output_qspec=config.output_activation, _annotated=True
            )

    def _annotate_pads(self, model: torch.fx.GraphModule) -> None:
        for pad in _calls(model, (_PAD,)):
            source = pad.args[0]
            known = source.meta.get(Q_ANNOTATION_KEY)
            if _is_float(pad):
                continue
            spec = (
                SharedQuantizationSpec(source)
                if known is not None and known.output_qspec is not None
                else self.global_config.input_activation
            )
            pad.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                input_qspec_map={source: spec},
                output_qspec=SharedQuantizationSpec((source, pad)),
                _annotated=True,
            )


def _calls(
    model: torch.fx.GraphModule, targets: tuple[torch._ops.OpOverload, ...]
) -> list[torch.fx.Node]:
    return [n for n in model.graph.nodes if n.op == "call_function" and n.target in targets]


def _inside(node: torch.fx.Node, modules: tuple[str, ...]) -> bool:
    """Whether a module of these names made the node."""
    stack = node.meta.get("nn_module_stack") or {}
    names = {name for name, _ in stack.values()}
    return any(module in names for module in modules)


def _is_float(node: torch.fx.Node) -> bool:
    known = node.meta.get(Q_ANNOTATION_KEY)
    return known is not None and not known.input_qspec_map and known.output_qspec is None
