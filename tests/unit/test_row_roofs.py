"""Roofs of rows, from times that are known: what each kind cannot do without, and what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flat_rows import made_row
from steelyard.analyses.efficiency.model import efficiencies
from steelyard.base.diagnostic import checks_of, diagnose
from steelyard.diagnostics.results import plausible
from steelyard.diagnostics.results.evidence import Evidence
from steelyard.records.campaign_file import FILES, CampaignFile
from steelyard.records.kinds import FILE, KERNEL
from steelyard.results.facets import Roof
from steelyard.results.load import Measured
from steelyard.results.phases import RowPhase, RowPhases
from steelyard.results.roofs import shares_a_cpu, with_roofs
from steelyard.results.row import Row


def timed(op: str, ns: float, **more: Any) -> Row:
    """A row whose interval is 10 % either way."""
    usual: dict[str, Any] = {"method": "batch", "ranks": 2, "placement": "0|1", "bytes": 1024}
    if not op.startswith("mpi."):
        usual["mpi"] = None
    return made_row(op=op, median=ns, ci_low=0.9 * ns, ci_high=1.1 * ns, **usual | more)


def roof_of(row: Row, *others: Row) -> Roof:
    return with_roofs([row, *others])[0].get(Roof)


def stream(op: str, bytes_per_s: float, size: int = 1 << 26) -> Row:
    return timed(op, size / bytes_per_s * 1e9, bytes=size, ranks=1, threads=2, bandwidth=bytes_per_s)


def test_a_message_has_the_fastest_layer_that_could_stand_in() -> None:
    layers = [timed("shm.flag", 500), timed("shm.cma", 900), timed("sock.tcp", 100), timed("mem.copy", 10)]
    found = roof_of(timed("mpi.pingpong", 1000), *layers)
    assert (found.roof, found.roof_ns, found.of_roof) == ("shm.flag", 500, 0.5)
    assert found.of_roof_low == pytest.approx(450 / 1100)
    assert found.of_roof_high == pytest.approx(550 / 900)
    far = roof_of(timed("mpi.pingpong", 1000, placement="a:0|b:0"), *layers)
    assert (far.roof, far.of_roof) == ("sock.tcp", 0.1)


@pytest.mark.parametrize("cpus", ["0|0", "a:0|a:0"])
def test_ranks_that_share_a_cpu_have_no_roof_and_make_none(cpus: str) -> None:
    """A flag on one CPU takes a time slice: forty times as long as MPI, which yields."""
    slow = timed("shm.flag", 44_000, placement=cpus)
    shared, apart = timed("mpi.pingpong", 1000, placement=cpus), timed("mpi.pingpong", 1000)
    for layers in ((slow,), (slow, timed("shm.flag", 500))):
        found = with_roofs([shared, apart, *layers])
        assert [row.get(Roof).of_roof for row in found[:2]] == [None, 0.5 if len(layers) > 1 else None]
        table = {one.placement: one for one in efficiencies(found)}
        assert cpus not in table or (table[cpus].efficiency, table[cpus].layers) == (None, ())
    assert "share a CPU" in (found[0].get(Roof).no_roof or "")
    assert "share a CPU" in table[cpus].why
    assert not shares_a_cpu(timed("mpi.pingpong", 1000, placement="a:0|b:0"))
    assert not shares_a_cpu(timed("mpi.pingpong", 1000, placement="0-1|0-1"))


def test_one_sided_calls_have_copies() -> None:
    params = {"sync": "lock", "complete": "unlock", "calls": 4}
    put = timed("mpi.put.bandwidth", 8000, params=params, bandwidth=4 * 1024 / 8000 * 1e9)
    found = roof_of(put, timed("mem.copy", 500, ranks=1))
    assert (found.roof, found.roof_ns, found.of_roof) == ("mem.copy", 2000, 0.25)
    both = timed("mpi.put.bibandwidth", 8000, params=params, bandwidth=8 * 1024 / 8000 * 1e9)
    assert roof_of(both, timed("mem.copy", 500, ranks=1)).roof is None


def test_a_collective_has_a_message_or_its_bytes_in_memory() -> None:
    """1 KiB there takes 500 ns; read and written at 2 GB/s they take 1024."""
    bcast = timed("mpi.bcast", 4096, method="epoch", bandwidth=1024 / 4096 * 1e9)
    hop = timed("shm.flag", 500)
    found = roof_of(bcast, hop)
    assert (found.roof, found.of_roof) == ("shm.flag", 500 / 4096)
    found = roof_of(bcast, hop, stream("mem.stream.copy", 2e9))
    assert found.roof == "mem.stream.copy"
    assert found.of_roof == pytest.approx(0.25)
    barrier = timed("mpi.barrier", 400, bytes=0, sized=False)
    assert roof_of(barrier, hop, timed("shm.flag", 100, bytes=8)).of_roof == 0.25


def test_a_kernel_has_the_bytes_of_its_phases() -> None:
    phase = RowPhase("spmv", False, 1e6, 1e6, 1e6, 1e6, 1.0, 1.0, None, 8e6)
    nothing = dict.fromkeys(("messages", "bytes", "collectives", "collective_bytes"), 0.0)
    inside = RowPhases(
        phases=(phase,),
        communication=0.0,
        rank_communication=(0.0,),
        imbalance=0.0,
        memory=1 << 25,
        resident=0,
        **nothing,
    )
    kernel = timed("app.hpccg", 1e6, role=KERNEL, phases=inside)
    found = roof_of(kernel, stream("mem.stream.triad", 1e9, 4096), stream("mem.stream.triad", 10e9))
    assert found.of_roof == pytest.approx(0.8)


_PIECES = {"file": "shared", "pattern": "strided", "calls": 16}


def file_row(op: str, ns: float, **more: Any) -> Row:
    """Pieces that ranks move to or from /a; those of MPI-IO have file.pwrite below."""
    usual: dict[str, Any] = {"role": FILE, "method": "epoch", "params": _PIECES, "env": {FILES: "/a"}}
    if op.startswith("mpi.io."):
        usual["below"] = "file.pwrite"
    return timed(op, ns, **usual | more)


def test_a_file_by_mpi_io_has_the_same_pieces_without_mpi() -> None:
    row = file_row("mpi.io.write_at", 2000, params={**_PIECES, "view": "type", "atomic": "off"})
    found = roof_of(row, file_row("file.pwrite", 500), file_row("file.pread", 100))
    assert (found.roof, found.of_roof) == ("file.pwrite", 0.25)
    assert found.of_roof_low == pytest.approx(450 / 2200)


@pytest.mark.parametrize(
    "other",
    [
        {"bytes": 2048},
        {"ranks": 4, "placement": "0|1|2|3"},
        {"threads": 2},
        {"method": "barrier"},
        {"env": {FILES: "/b"}},
        {"placement": "a:0|b:0"},
        {"placement": "0|0"},
        {"params": _PIECES | {"pattern": "contiguous"}},
        {"params": _PIECES | {"file": "own"}},
        {"params": _PIECES | {"calls": 1}},
        {"op": "file.pwrite.fsync"},
    ],
    ids=str,
)
def test_other_pieces_are_no_floor_of_files(other: dict[str, Any]) -> None:
    floor = file_row(**{"op": "file.pwrite", "ns": 500, **other})
    assert roof_of(file_row("mpi.io.write_at", 2000), floor).of_roof is None


def test_the_shared_pointer_has_the_fastest_pattern() -> None:
    row = file_row("mpi.io.write_shared", 2000, params={"calls": 16})
    floors = [
        file_row("file.pwrite", ns, params=_PIECES | {"pattern": pattern})
        for pattern, ns in (("contiguous", 800.0), ("strided", 1000.0))
    ]
    assert roof_of(row, *floors).of_roof == 0.4


def test_without_a_row_below_there_is_no_roof() -> None:
    rows = (timed("mpi.pingpong", 1000), timed("mpi.bcast", 1000), timed("shm.flag", 500, status="failed"))
    assert with_roofs(rows) == rows
    assert roof_of(timed("mpi.pingpong", 1000), timed("shm.flag", 500, bytes=8)).roof is None


@pytest.mark.parametrize(
    ("floor", "said"),
    [
        (timed("shm.flag", 1200, bytes=8), False),
        (timed("shm.flag", 1700, bytes=8), False),
        (timed("shm.flag", 2000, bytes=8), True),
        (timed("shm.cma", 2000, bytes=8), False),
        (timed("shm.flag", 2000, bytes=1 << 20), False),
    ],
    ids=["slower", "noise", "impossible", "another way", "in another way"],
)
def test_what_is_faster_than_what_it_contains_is_named(floor: Row, said: bool) -> None:
    rows = with_roofs([timed("mpi.pingpong", 1000, bytes=floor.bytes), floor])
    measured = Measured(Path("x"), CampaignFile(), (), ())
    found = diagnose(checks_of(plausible), Evidence(measured, rows))
    assert rows[0].get(Roof).of_roof == (floor.time or 0) / 1000
    assert [one.name for one in found] == ["above-roof"] * said
    assert all("1.00 us, where shm.flag takes 2.00 us" in one.evidence for one in found)
