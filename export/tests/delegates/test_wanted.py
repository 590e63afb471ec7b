"""Which variants ``--variant`` and ``--delegate`` stand for."""

from __future__ import annotations

import pytest

from nearside_export.cli import main
from nearside_export.errors import UsageError
from nearside_export.lower.delegates import DELEGATES, USUAL
from nearside_export.manifest.quality import QUALITIES
from nearside_export.wanted import choose, read


@pytest.mark.parametrize(
    ("variants", "delegates", "names"),
    [
        (None, "xnnpack", ["xnnpack-int8"]),
        (None, "coreml,xnnpack", ["coreml-fp16", "xnnpack-int8"]),
        ("all", "xnnpack", ["xnnpack-int8", "xnnpack-fp32"]),
        ("all", "coreml,portable", ["coreml-fp16", "coreml-fp32", "portable-fp32"]),
        ("fp32", "portable, openvino", ["portable-fp32", "openvino-fp32"]),
        ("int8,coreml-fp16,int8", "xnnpack", ["xnnpack-int8", "coreml-fp16"]),
    ],
)
def test_lists_stand_for_variants_in_their_order_each_once(
    variants: str | None, delegates: str, names: list[str]
) -> None:
    assert list(choose(variants, delegates, "classify")) == names


def test_a_name_without_a_delegate_is_xnnpacks() -> None:
    (wanted,) = read(["8da4w"], "generate")
    assert (wanted.name, wanted.delegate.backend) == ("xnnpack-8da4w", "XnnpackBackend")


@pytest.mark.parametrize(
    ("variants", "delegates", "task", "said"),
    [
        ("int3", "xnnpack", "classify", "unknown variant 'int3'; known: int8, fp32"),
        ("fp32,,int8", "xnnpack", "classify", "a name missing between its commas"),
        (None, "", "classify", "--delegate '' has a name missing"),
        (None, "nnapi", "classify", "unknown delegate 'nnapi'; known: xnnpack, nearside, portable"),
        (
            "int8",
            "coreml",
            "classify",
            "coreml can't hold the variant 'int8'; it holds: fp16, fp32",
        ),
        ("portable-int8", "xnnpack", "embed", "portable can't hold the variant 'int8'"),
        ("all", "openvino", "generate", "openvino can't hold models of `generate`: .*fixed shape"),
        (None, "qnn", "describe", "It holds models of classify; use --delegate xnnpack"),
    ],
)
def test_what_can_not_be_made_is_refused_with_what_can(
    variants: str | None, delegates: str, task: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        choose(variants, delegates, task)


def test_the_usual_delegate_holds_every_task() -> None:
    assert set(DELEGATES[USUAL].schemes) == set(QUALITIES)
    assert all(set(d.schemes) <= set(QUALITIES) for d in DELEGATES.values())


def test_the_command_line_refuses_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["classify", "tiny-classifier", "--dry-run"]
    for options, said in (
        (["--variant", "int3"], "unknown variant 'int3'"),
        (["--delegate", "coreml", "--external-weights"], "keeps weights in its part"),
        (["--soc", "SM8650"], "--soc is for --delegate qnn"),
    ):
        assert main([*command, *options]) == 2
        assert said in capsys.readouterr().err
