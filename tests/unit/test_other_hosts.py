"""Ranks that are on other hosts than those that were asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from steelyard.diagnostics.results import diagnostics
from steelyard.records.campaign_file import Placement
from steelyard.results.load import load
from steelyard.results.rows import rows_of


def _on(a: str, b: str) -> FakePoint:
    placement = Placement("other-host", hosts=(a, b))
    return FakePoint("mpi.pingpong", steady(900.0, count=200, between=0.005), placement=placement)


def test_ranks_that_are_on_one_host_instead_of_two_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_on("n1", "n2")], launches=1)
    measured = load(folder)
    assert "other-hosts" not in {one.name for one in diagnostics(measured, rows_of(measured))}
    for path in (folder / "records").iterdir():
        path.write_text(unsealed(path.read_text()).replace('"host":"n2"', '"host":"n1"'))
    measured = load(folder)
    (one,) = (one for one in diagnostics(measured, rows_of(measured)) if one.name == "other-hosts")
    assert "was given 2 hosts (n1, n2), its ranks are on 1 (n1)" in one.evidence


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("n1", "n3"), True),
        (("n1.cluster", "N2"), False),
        (("io1", "io2"), False),
    ],
)
def test_ranks_on_a_host_that_was_not_asked_for_are_named(
    names: tuple[str, str], told: bool, tmp_path: Path
) -> None:
    """Where a name leads to another host. Batch systems may have names of their own for nodes."""
    folder = write_folder(tmp_path / "out", [_on("n1", "n2")], launches=1)
    for path in (folder / "records").iterdir():
        text = unsealed(path.read_text())
        for was, is_now in zip(("n1", "n2"), names, strict=True):
            text = text.replace(f'"host":"{was}"', f'"host":"{is_now}"')
        path.write_text(text)
    measured = load(folder)
    found = [one for one in diagnostics(measured, rows_of(measured)) if one.name == "other-hosts"]
    assert bool(found) == told
    assert not told or "was given 2 hosts (n1, n2), its ranks are on 2 (n1, n3)" in found[0].evidence


def test_an_address_is_no_other_host(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_on("n1", "10.0.0.2")], launches=1)
    for path in (folder / "records").iterdir():
        path.write_text(unsealed(path.read_text()).replace('"host":"10.0.0.2"', '"host":"n2"'))
    measured = load(folder)
    assert "other-hosts" not in {one.name for one in diagnostics(measured, rows_of(measured))}
