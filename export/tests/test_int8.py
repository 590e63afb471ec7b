"""PT2E static int8 on a small network, run by XNNPACK and compared with eager fp32."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.quantise import none, pt2e_static_int8
from nearside_export.runtime.wheel import LoadedMethod

_CONV = torch.ops.aten.conv2d.default


class SmallNet(torch.nn.Module):
    """Padding, batch norm, ReLU6 with wide inputs, a depthwise convolution, a skip, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.pad = torch.nn.ZeroPad2d((0, 1, 0, 1))
        self.stem = torch.nn.Conv2d(3, 16, 3, stride=2, bias=False)
        self.norm = torch.nn.BatchNorm2d(16)
        self.depthwise = torch.nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.point = torch.nn.Conv2d(16, 16, 1)
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.head = torch.nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.relu6(self.norm(self.stem(self.pad(x))))
        x = x + self.point(torch.nn.functional.relu6(self.depthwise(x)))
        return self.head(self.pool(x).flatten(1))


def pictures(count: int, seed: int) -> torch.Tensor:
    """Smooth random blobs, f32 [count, 3, 32, 32] in about -1..1."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 3, 4, 4, generator=generator)
    return torch.nn.functional.interpolate(coarse, size=32, mode="bilinear").clamp(-1, 1)


def sqnr_db(want: np.ndarray, got: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(want**2) / np.mean((want - got) ** 2)))


@pytest.fixture(scope="module")
def model() -> SmallNet:
    torch.manual_seed(11)
    net = SmallNet()
    # Trained statistics are not 0 and 1, and scales are uneven: most of what goes in is clamped.
    net.norm.running_mean.copy_(0.2 * torch.randn(16))
    net.norm.running_var.copy_(0.02 + 0.1 * torch.rand(16))
    torch.nn.init.uniform_(net.norm.weight, 2.0, 6.0)
    return net.eval()


@pytest.fixture(scope="module")
def lowered(model: SmallNet) -> LoweredProgram:
    program = pt2e_static_int8.export(model, torch.zeros(1, 3, 32, 32), pictures(48, seed=1))
    return xnnpack.lower(program)


def run_all(pte: bytes, batch: torch.Tensor) -> np.ndarray:
    method = LoadedMethod(pte, "forward")
    return np.concatenate([method.run([x[None].numpy()])[0] for x in batch])


def eager(model: SmallNet, batch: torch.Tensor) -> np.ndarray:
    with torch.no_grad():
        return model(batch).numpy()


def test_int8_through_xnnpack_is_near_eager_fp32(model: SmallNet, lowered: LoweredProgram) -> None:
    unseen = pictures(32, seed=2)
    assert sqnr_db(eager(model, unseen), run_all(lowered.pte, unseen)) > 25.0


def test_the_whole_network_runs_inside_xnnpack(lowered: LoweredProgram) -> None:
    assert lowered.delegates == ["XnnpackBackend"]
    assert lowered.operators == []
    assert lowered.coverage == 1.0


def test_it_beats_the_stock_quantizer_by_far(model: SmallNet, lowered: LoweredProgram) -> None:
    calibration, unseen = pictures(48, seed=1), pictures(32, seed=2)
    stock = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    graph = torch.export.export(model, (calibration[:1],)).module()
    prepared = prepare_pt2e(graph, stock)
    for x in calibration:
        prepared(x[None])
    converted = convert_pt2e(prepared)
    want = eager(model, unseen)
    by_stock = np.concatenate([converted(x[None]).detach().numpy() for x in unseen])
    assert sqnr_db(want, run_all(lowered.pte, unseen)) > sqnr_db(want, by_stock) + 3.0


def test_named_modules_stay_float_which_tells(model: SmallNet, lowered: LoweredProgram) -> None:
    calibration, unseen = pictures(48, seed=1), pictures(32, seed=2)
    named = ("pad", "stem", "norm")
    program = pt2e_static_int8.export(model, calibration[:1], calibration, named)
    stem, depthwise, point = (n for n in program.graph.nodes if n.target == _CONV)
    assert _is_quantised(stem) == (False, False)
    assert _is_quantised(depthwise) == _is_quantised(point) == (True, True)
    partly = xnnpack.lower(program)
    assert partly.operators == []
    want = eager(model, unseen)
    assert sqnr_db(want, run_all(partly.pte, unseen)) > sqnr_db(want, run_all(lowered.pte, unseen))


def _is_quantised(conv: torch.fx.Node) -> tuple[bool, bool]:
    """Whether a convolution's activation and weight are dequantised integers."""
    activation, weight = ("dequantize" in str(operand) for operand in conv.args[:2])
    return activation, weight


def test_inputs_are_not_memory_planned(lowered: LoweredProgram) -> None:
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(lowered.pte)
    info = program.load_method("forward").metadata.input_tensor_meta(0)
    assert not info.is_memory_planned()
    assert tuple(info.sizes()) == (1, 3, 32, 32)


def test_fp32_through_xnnpack_equals_eager(model: SmallNet) -> None:
    unseen = pictures(8, seed=3)
    fp32 = xnnpack.lower(none.export(model, torch.zeros(1, 3, 32, 32)))
    np.testing.assert_allclose(run_all(fp32.pte, unseen), eager(model, unseen), atol=1e-4)


def test_an_unknown_method_is_refused_with_those_that_exist(lowered: LoweredProgram) -> None:
    from nearside_export.errors import ExportError

    with pytest.raises(ExportError, match="it has: forward"):
        LoadedMethod(lowered.pte, "backward")


def test_bytes_that_are_no_program_are_an_export_error() -> None:
    from nearside_export.errors import ExportError

    with pytest.raises(ExportError, match="cannot load"):
        LoadedMethod(b"this is not a program" * 100, "forward")
