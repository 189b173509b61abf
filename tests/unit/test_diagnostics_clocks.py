"""Diagnostics of clocks: those that are not sound, odd ones, and those that a wild clock timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from make_records import FakePoint, listed, steady, write_folder
from record_lines import unsealed
from steelyard.diagnostics.results import diagnostics
from steelyard.records.job_file import append_records
from steelyard.records.read import read_records
from steelyard.records.schema import Obs, Sync
from steelyard.results.facets import ClockError
from steelyard.results.load import load
from steelyard.results.rows import rows_of

QUIET = FakePoint("mpi.bcast", steady(1000.0, between=0.005))


@pytest.mark.parametrize(
    ("domains", "basis", "found"), [(2, "closure", True), (1, "closure", False), (2, "bound", False)]
)
def test_a_closure_is_not_blindly_trusted(tmp_path: Path, domains: int, basis: Any, found: bool) -> None:
    folder = write_folder(tmp_path / "out", [QUIET], launches=1)
    path = next((folder / "records").glob("*.jsonl"))
    syncs = [
        Sync(
            index=index,
            algorithm="tree",
            domains=domains,
            at_ns=(10**12 * index,) * 2,
            offset_ns=(0.0, 5e3),
            drift_ppm=(0.0, 9.0),
            error_ns=(10.0, 40.0),
            bound_ns=(10.0, 2e3),
            error_basis=basis,
        )
        for index in (0, 1)
    ]
    records = [
        replace(listed(record), sync_before=0, sync_after=1) if isinstance(record, Obs) else record
        for record in read_records(path).records
    ]
    path.write_bytes(b"")
    append_records(path, [*records[:2], *syncs, *records[2:]])
    measured = load(folder)
    rows = rows_of(measured)
    error = rows[0].get(ClockError)
    assert (error.clock_error_ns, error.clock_bound_ns) == (50.0, 2010.0)
    evidence = {one.name: one.evidence for one in diagnostics(measured, rows)}
    assert ("closed-clocks" in evidence) == found
    assert not found or "stated error ±50.0 ns, guaranteed bound ±2.01 us" in evidence["closed-clocks"]


def test_a_clock_that_is_not_sound_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [QUIET], launches=2)
    path = folder / "records" / "l02-mpich-4.0.2-n2.jsonl"
    path.write_text(
        unsealed(path.read_text()).replace('"clock_doubt":null', '"clock_doubt":"it went back by 7 ns"')
    )
    measured = load(folder)
    found = {d.name: d for d in diagnostics(measured, rows_of(measured))}["unsound-clock"]
    assert found.evidence == "Clock monotonic in 1 launch: it went back by 7 ns."


def _told_of_clocks(out: Path, name: str, **told: str) -> str | None:
    """What a check says of a launch on three hosts of which h1 says something of its clock."""
    folder = write_folder(
        out, [FakePoint("mpi.bcast", steady(900.0), ranks=3)], launches=1, hosts=lambda rank: f"h{rank}"
    )
    (path,) = (folder / "records").iterdir()
    lines = unsealed(path.read_text()).splitlines()
    for number, line in enumerate(lines):
        record = json.loads(line)
        if record["record"] == "launch":
            record["places"][1] |= told
            lines[number] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n")
    measured = load(folder)
    found = {one.name: one.evidence for one in diagnostics(measured, rows_of(measured))}
    return found.get(name)


def test_a_host_whose_clock_alone_is_not_sound_is_named(tmp_path: Path) -> None:
    doubt = "the kernel does not use it: its clock source is hpet"
    assert _told_of_clocks(tmp_path / "forced", "unsound-clock", clock_doubt=doubt) == (
        f"Clock monotonic on h1 in 1 launch: {doubt}."
    )
    assert _told_of_clocks(tmp_path / "passed", "odd-clock", clock_passed=f"tsc: {doubt}") == (
        f"On h1 in 1 launch, clock tsc: {doubt}; all ranks read monotonic."
    )
    assert _told_of_clocks(tmp_path / "alike", "odd-clock") is None


def test_points_that_a_wild_clock_timed_are_doubted(tmp_path: Path) -> None:
    """A point that needs one clock fails by it; those that need none are timed by the same one."""
    folder = write_folder(tmp_path / "out", [QUIET, QUIET], launches=1)
    (path,) = (folder / "records").iterdir()
    *lines, last = unsealed(path.read_text()).splitlines()
    why = "clock: rank 1: the clocks of ranks 1 and 0 cannot be related: they jump; measure anew"
    end = json.loads(last) | {"status": "failed", "why": why}
    path.write_text("\n".join([*lines, json.dumps(end)]) + "\n")
    measured = load(folder)
    found = {d.name: d for d in diagnostics(measured, rows_of(measured))}["unsound-clock"]
    assert found.evidence == (
        "Launch 1: rank 1: the clocks of ranks 1 and 0 cannot be related: they jump, "
        "and the same clocks timed 1 other test case of it."
    )
