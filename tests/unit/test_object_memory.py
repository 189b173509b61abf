"""What is said of memory that a library keeps for each object: verdicts and the table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from macro_rows import row
from steelyard.analyses.object_memory.model import CANNOT_TELL, GIVES_BACK, LEAKS, object_memories
from steelyard.analyses.object_memory.tables import object_memory_tables
from steelyard.records.campaign_file import Placement
from steelyard.records.job_file import PointRun
from steelyard.records.schema import Obs
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Memory
from steelyard.results.row import Row
from steelyard.results.values import later_counts


def _row(left: tuple[float, float | None, float | None], ranks: int = 2, freed: int = 5000) -> Row:
    value, low, high = left
    memory = Memory(
        held_bytes=8093.0,
        held_low=8000.0,
        held_high=8200.0,
        left_bytes=value,
        left_low=low,
        left_high=high,
        freed=freed,
        resident_bytes=0.0,
    )
    plain = row("mpi.memory.comm_dup", "a", [5e5, 6e5], ranks=ranks)
    return msgspec.structs.replace(plain, facets=(*plain.facets, memory))


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        ((1040.0, 1030.0, 1050.0), LEAKS),
        ((17.0, 16.5, 18.0), LEAKS),
        ((5.0, -20.0, 15.0), GIVES_BACK),
        ((20.0, 10.0, 30.0), CANNOT_TELL),
        ((1040.0, None, None), CANNOT_TELL),  # one launch
    ],
)
def test_a_leak_is_certain_or_none(left: tuple[float, float | None, float | None], verdict: str) -> None:
    (memory,) = object_memories([_row(left)])
    assert memory.verdict == verdict


def test_pools_that_still_grow_are_no_leak() -> None:
    (memory,) = object_memories([_row((120.0, 111.0, 130.0), freed=4999)])
    assert memory.verdict == CANNOT_TELL


def _counted(left: Sequence[Sequence[int]]) -> dict[str, float]:
    """What a launch counts in chunks of four samples: bytes that were left, by rank."""
    chunks = tuple(
        Obs(
            point=0,
            first=at,
            count=4,
            start_ns=[[0] * 4 for _ in left],
            stop_ns=[[1] * 4 for _ in left],
            counts={"left": [list(rank[at : at + 4]) for rank in left]},
        )
        for at in range(0, len(left[0]), 4)
    )
    return later_counts(PointRun(0, None, chunks, None))


@pytest.mark.parametrize(
    ("left", "counted"),
    [
        ([[900, 900, 900, 900, 0, 0, 0, 0]], 0),  # a pool that has grown
        ([[0] * 8, [100] * 8, [0] * 8], 100),  # one rank alone
        ([[0, 0, 0, 400] * 2], 100),  # room for many at once
    ],
)
def test_what_grows_later_on_any_rank_counts(left: Sequence[Sequence[int]], counted: float) -> None:
    assert _counted(left) == {"left": counted}


def test_settings_and_placements_are_told_apart() -> None:
    plain = _row((0.0, -1.0, 1.0))
    lean = msgspec.structs.replace(plain, env={"UCX_TLS": "tcp"})
    apart = msgspec.structs.replace(plain, placed=Placement("list", (0, 2)))
    found = object_memories([plain, lean, apart])
    assert [(one.env, one.placement) for one in found] == [
        ({}, None),
        ({"UCX_TLS": "tcp"}, None),
        ({}, "list 0,2"),
    ]
    (table,) = object_memory_tables(found)
    assert len({line.cells for line in table.lines}) == 3


def test_the_table_fits_a_screen_and_needs_what_was_counted() -> None:
    assert object_memories([row("mpi.barrier", "a", [1.0, 2.0])]) == ()
    assert object_memory_tables(()) == ()
    (table,) = object_memory_tables(object_memories([_row((0.0, -1.0, 1.0)), _row((2e3, 1e3, 3e3), ranks=4)]))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "7.903 KiB" in text
    assert [line.cells[-1] for line in table.lines] == ["none", "leak"]


def _held(ranks: int, objects: int, held: float) -> Row:
    plain = row("mpi.memory.comm_dup", "a", [5e5, 6e5], ranks=ranks, params={"objects": float(objects)})
    memory = Memory(held_bytes=held, held_low=held, held_high=held, resident_bytes=0.0)
    grown: Row = msgspec.structs.replace(plain, facets=(*plain.facets, memory))
    return grown


def test_growth_over_ranks_and_over_objects_is_their_slope() -> None:
    by_ranks = [_held(ranks, 500, 4000 + 160.0 * ranks) for ranks in (2, 4, 8)]
    slopes = [(memory.peer, memory.further) for memory in object_memories(by_ranks)]
    assert all(peer is not None and peer.value == pytest.approx(160) for peer, _ in slopes)
    assert all(further is None for _, further in slopes)
    by_objects = [_held(2, objects, 100 + 32000.0 / objects) for objects in (100, 200, 500)]
    slopes = [(memory.peer, memory.further) for memory in object_memories(by_objects)]
    assert all(further is not None and further.value == pytest.approx(100) for _, further in slopes)
    assert all(peer is None for peer, _ in slopes)
    (table,) = object_memory_tables(object_memories(by_ranks))
    names = [column.name for column in table.columns]
    assert "a peer" in names
    assert "further" not in names
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
