"""What is said of ranks that wait: how they do it, the table, the picture, and what their neighbours lose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from macro_rows import row
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.waiting.model import (
    BLOCKS,
    BOTH,
    CANNOT_TELL,
    OVERLOAD,
    QUEUES,
    SPINS,
    YIELDS,
    waitings,
    way_of,
)
from steelyard.analyses.waiting.neighbours import neighbour_tables, waiting_neighbours
from steelyard.analyses.waiting.pictures import waiting_charts
from steelyard.analyses.waiting.tables import waiting_tables
from steelyard.records.job_file import PointRun
from steelyard.records.schema import Obs
from steelyard.render.svg import svg
from steelyard.render.terminal import Paper, table_text
from steelyard.results.combined import combine
from steelyard.results.facets import Messages, OfferedLoad, ResourceUse
from steelyard.results.facets.messages import RowPair
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.values import used_in


@pytest.mark.parametrize(
    ("burnt", "switches", "yields", "way"),
    [
        (0.99, 0.0, 0.0, SPINS),
        (0.2, 0.0, 0.0, SPINS),  # others took the rest
        (0.99, 0.01, None, SPINS),
        (0.98, 0.0, 5000.0, YIELDS),
        (0.02, 1.0, 0.0, BLOCKS),
        (0.02, 0.9, 3.0, BLOCKS),
        (0.7, 1.0, 0.0, BOTH),
        (None, 1.0, 3.0, CANNOT_TELL),
    ],
)
def test_how_a_rank_waits(
    burnt: float | None, switches: float | None, yields: float | None, way: str
) -> None:
    assert way_of(burnt, switches, yields) == way


def _row(rate: float, times: Sequence[float], came: float = 1.0, **used: object) -> Row:
    plain = row("mpi.pingpong", "a", times, bytes=8, sized=True, method="open-loop")
    load = OfferedLoad(offered_rate=rate, came_rate=came * rate)
    facets = (*plain.facets, load, ResourceUse(**used))  # type: ignore[arg-type]
    return msgspec.structs.replace(plain, facets=facets)


def test_waits_of_a_table_and_a_picture() -> None:
    used: dict[str, Any] = {
        "cpu_share": 0.6,
        "rank_cpu_shares": (0.2, 1.0),
        "rank_switches": (1.0, 0.0),
        "yields": 0.0,
        "system_share": 0.01,
    }
    rows = [_row(rate, [500.0, 510.0, 520.0], **used) for rate in (1e5, 1e3, 1.0, 1e6)]
    waits = waitings(rows)
    assert [one.wait for one in waits] == [1e4, 1e6, 1e9]  # 1 us is no wait
    assert {(one.way, one.burnt) for one in waits} == {(SPINS, 1.0)}
    assert waitings([_row(1e5, [2e4], **used)])[0].way == QUEUES
    assert waitings([_row(1e5, [2e4], 0.9, **used)])[0].way == OVERLOAD
    (table,) = waiting_tables(waits)
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert len(table.notes) == 2  # neither counters nor energy
    counted = waitings([_row(1e3, [500.0], **used, cycles=3e6, energy_j=0.1)])
    assert waiting_tables(counted)[0].notes == ()
    (chart,) = waiting_charts(waits)
    assert "<svg" in svg(chart)
    assert waiting_tables(()) == ()
    assert waiting_charts(()) == []


def test_the_rank_that_waits_is_the_higher_one_of_a_pair() -> None:
    """Four ranks whose lower half sends, as in the pattern `bisection`: rank 1 spins until one is due."""
    plain = _row(1e3, [500.0], rank_cpu_shares=(1.0, 1.0, 0.02, 0.03), rank_switches=(0.0, 0.0, 1.0, 1.0))
    pairs = Messages(pairs=(RowPair(0, 2, 500.0), RowPair(1, 3, 500.0)))
    (found,) = waitings([msgspec.structs.replace(plain, facets=(*plain.facets, pairs))])
    assert (found.way, found.burnt) == (BLOCKS, 0.02)


def test_what_a_rank_used_is_of_the_messages_of_its_own_pair(tmp_path: Path) -> None:
    point = FakePoint(
        "mpi.pattern.neighbours",
        steady(900.0, count=50),
        ranks=4,
        method="each",
        reps=1,
        report="message",
        partners=(1, 0, 3, 2),
    )
    (cell,) = load(write_folder(tmp_path / "x", [point], launches=1)).points[0].cells
    messages = cell.taken.operations // 2
    assert (cell.taken.pairs, messages > 0) == (2, True)
    used = {"voluntary": np.array([0, messages, 0, messages])}
    cell = msgspec.structs.replace(cell, taken=msgspec.structs.replace(cell.taken, used=used))
    found = ResourceUse.of(combine([cell], 0.95))
    assert found is not None
    assert (found.rank_switches, found.switches) == ((0.0, 1.0, 0.0, 1.0), 0.5)


def test_a_launch_that_does_not_tell_its_time_in_the_kernel_counts_for_no_cpu_time(tmp_path: Path) -> None:
    cells = load(write_folder(tmp_path / "x", [FakePoint("mpi.bcast", steady(900.0))], launches=2)).points[0]
    count = cells.cells[0].taken.operations
    told = {name: np.array([each * count] * 2) for name, each in (("user_ns", 6), ("system_ns", 2))}
    both = [
        msgspec.structs.replace(cell, taken=msgspec.structs.replace(cell.taken, used=used))
        for cell, used in zip(cells.cells, (told, {"user_ns": told["user_ns"]}), strict=True)
    ]
    found = ResourceUse.of(combine(both, 0.95))
    assert found is not None
    assert (found.cpu_ns, found.cpu_share) == (8.0, None)


def _stream(wait: str, times: Sequence[float]) -> Row:
    return row(
        "mpi.wait.stream",
        "a",
        times,
        bytes=8000000,
        sized=True,
        bandwidth=2.4e7 / times[0] * 1e9,
        params={"wait": wait},
    )


def test_a_neighbour_is_slower_beside_a_rank_that_spins() -> None:
    rows = [_stream("sleep", [1e6, 1.1e6, 0.9e6]), _stream("recv", [2e6, 2.2e6, 1.8e6])]
    (found,) = waiting_neighbours(rows)
    assert found.ratio.value == pytest.approx(2)
    assert found.alone == pytest.approx(2 * found.beside)
    (table,) = neighbour_tables([found])
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
    assert waiting_neighbours(rows[1:]) == ()
    assert neighbour_tables(()) == ()


def _obs(first: int, used: dict[str, tuple[int, ...]]) -> Obs:
    return Obs(point=0, first=first, count=1, start_ns=[[0], [0]], stop_ns=[[1], [1]], used=used)


def test_what_was_used_is_added_up_where_each_chunk_tells() -> None:
    chunks = (
        _obs(0, {"user_ns": (5, 6), "cycles": (1, 1), "energy_uj": (-1, 2)}),
        _obs(1, {"user_ns": (7, 8), "energy_uj": (3, 2)}),
    )
    assert {name: found.tolist() for name, found in used_in(PointRun(0, None, chunks, None)).items()} == {
        "user_ns": [12, 14]
    }
    with pytest.raises(ValueError, match="used does not have an amount for each rank"):
        _obs(0, {"user_ns": (5,)})
