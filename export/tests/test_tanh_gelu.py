from __future__ import annotations

import torch
from torch.nn import functional

from nearside_export.lower import xnnpack
from nearside_export.lower.tanh_gelu import spell_out
from nearside_export.runtime.wheel import LoadedMethod


class Gelus(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return functional.gelu(x, approximate="tanh"), functional.gelu(x)


def test_xnnpack_gives_each_gelu_its_own_formula() -> None:
    x = torch.linspace(-6, 6, 4000)[None]
    lowered = xnnpack.lower(torch.export.export(Gelus(), (x,)))
    assert lowered.operators == []
    tanh, exact = (
        torch.from_numpy(o) for o in LoadedMethod(lowered.pte, "forward").run([x.numpy()])
    )
    want_tanh, want_exact = Gelus()(x)
    assert (want_tanh - want_exact).abs().max() > 4e-4
    torch.testing.assert_close(tanh, want_tanh, atol=2e-6, rtol=0)
    torch.testing.assert_close(exact, want_exact, atol=2e-6, rtol=0)


def test_the_formula_is_pytorchs() -> None:
    x = torch.linspace(-6, 6, 4000)[None]
    program = spell_out(torch.export.export(Gelus(), (x,)))
    for got, want in zip(program.module()(x), Gelus()(x), strict=True):
        torch.testing.assert_close(got, want, atol=2e-6, rtol=0)
    gelus = [n for n in program.graph.nodes if n.target is torch.ops.aten.gelu.default]
    assert len(gelus) == 1
