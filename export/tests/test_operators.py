"""The committed table of the kernels' signatures."""

from __future__ import annotations

from conftest import ROOT

from nearside_export import operators


def test_the_committed_table_is_what_the_schemas_in_hand_give() -> None:
    committed = (ROOT / operators.TABLE).read_text(encoding="utf-8")
    assert committed == operators.table()
    assert len(committed.splitlines()) > 250
