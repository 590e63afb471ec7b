"""Lowering that leaves idle retraces out gives the program that ExecuTorch's own way gives."""

from __future__ import annotations

import contextlib

import pytest
import torch

from nearside_export.lower import partitioned, retracing, xnnpack


class Mixed(torch.nn.Module):
    """What several of XNNPACK's passes change: batch norm, padding, concatenation, a lone clamp."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.pad = torch.nn.ZeroPad2d(1)
        self.conv = torch.nn.Conv2d(3, 4, 3, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(self.pad(x))))
        x = torch.cat([x, torch.sigmoid(x) * 2.0], dim=1).mean(dim=(2, 3))
        return torch.softmax(self.head(x), dim=-1)


def test_the_program_is_the_same_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    def lowered() -> bytes:
        program = torch.export.export(Mixed().eval(), (torch.ones(1, 3, 8, 8),))
        return xnnpack.lower(program).pte

    ours = lowered()
    monkeypatch.setattr(retracing, "only_changed_graphs", contextlib.nullcontext)
    assert lowered() == ours


def test_retraces_are_left_out() -> None:
    call = retracing._ExportPassBase.call
    counts = []
    for block in (retracing.only_changed_graphs, contextlib.nullcontext):
        traced = 0

        def counted(self: object, graph_module: torch.fx.GraphModule) -> object:
            nonlocal traced
            traced += 1
            return call(self, graph_module)

        retracing._ExportPassBase.call = counted
        try:
            with block():
                program = torch.export.export(Mixed().eval(), (torch.ones(1, 3, 8, 8),))
                partitioned.to_edge_transform_and_lower(
                    program, partitioner=[xnnpack.XnnpackPartitioner()]
                )
        finally:
            retracing._ExportPassBase.call = call
        counts.append(traced)
    assert counts[0] < counts[1]
    assert retracing._ExportPassBase.call is call
