"""What a process has in memory after first uses: what a use added, and bytes for each further rank."""

from __future__ import annotations

import msgspec
import pytest

from macro_rows import row
from steelyard.analyses.process_memory.model import process_memories
from steelyard.analyses.process_memory.tables import process_memory_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Footprint
from steelyard.results.row import Row

_KIB, _MIB = 1024.0, 1024.0**2


def _row(ranks: int, added: float, pinned: float = 0.0) -> Row:
    kept = Footprint(
        process_resident=40 * _MIB,
        process_shared=10 * _MIB,
        process_locked=0.0,
        process_pinned=pinned,
        grown_heap=added / 2,
        grown_resident=added,
        grown_low=added - _KIB,
        grown_high=added + _KIB,
    )
    plain = row("mpi.first.alltoall", "a", [5e5, 6e5], ranks=ranks)
    return msgspec.structs.replace(plain, facets=(*plain.facets, kept))


def test_bytes_a_peer_are_the_slope_over_ranks() -> None:
    """A process that takes 1 MiB, and 24 KiB for each rank."""
    found = process_memories([_row(ranks, _MIB + 24 * _KIB * ranks) for ranks in (2, 4, 8, 16)])
    assert [one.ranks for one in found] == [2, 4, 8, 16]
    assert all(one.peer is not None and one.peer.value == pytest.approx(24 * _KIB) for one in found)
    assert found[0].added.value == _MIB + 48 * _KIB


def test_two_numbers_of_ranks_are_no_slope() -> None:
    assert [one.peer for one in process_memories([_row(2, _MIB), _row(4, 2 * _MIB)])] == [None, None]


def test_sizes_and_settings_are_told_apart() -> None:
    early = msgspec.structs.replace(_row(2, _MIB), env={"OMPI_MCA_mpi_preconnect_mpi": "1"})
    sized = [msgspec.structs.replace(_row(2, _MIB), bytes=size, sized=True) for size in (8, 64)]
    (table,) = process_memory_tables(process_memories([*sized, early]))
    assert [line.cells[1:3] for line in table.lines] == [("8 B", ""), ("64 B", ""), ("", "1")]


def test_the_table_fits_a_screen_and_has_what_was_counted() -> None:
    assert process_memories([row("mpi.barrier", "a", [1.0, 2.0])]) == ()
    assert process_memory_tables(()) == ()
    (table,) = process_memory_tables(process_memories([_row(r, _MIB + 24 * _KIB * r) for r in (2, 4, 8)]))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "24 KiB" in text
    assert "pinned" not in text
    (table,) = process_memory_tables(process_memories([_row(2, _MIB, pinned=3 * _MIB)]))
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "pinned" in text
    assert "3 MiB" in text
