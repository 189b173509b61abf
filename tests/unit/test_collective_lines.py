"""Lines of collectives whose algorithms are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from macro_rows import row
from steelyard.analyses.collective_lines.model import CollectiveLines, collective_lines_of
from steelyard.analyses.collective_lines.tables import collective_tables
from steelyard.records.kinds import COLLECTIVE
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

SIZES = [1 << k for k in range(3, 21)]
ALPHA, BETA, RANKS = 1000.0, 0.1, 16  # of a message, in ns and ns a byte
DOUBLING = (4 * ALPHA, 4 * BETA)
HALVES = (8 * ALPHA, 2 * 15 / 16 * BETA)  # reduce-scatter, allgather
RING = (30 * ALPHA, 2 * 15 / 16 * BETA)


def rows_of(op: str, time: Callable[[int], float], **more: object) -> list[Row]:
    kind = {"role": COLLECTIVE, "ranks": RANKS, "sized": True, "method": "epoch", **more}
    return [
        row(op, "a", [one * time(size) for one in (0.995, 1.0, 1.005)], bytes=size, **kind) for size in SIZES
    ]


def pingpong() -> list[Row]:
    return [row("mpi.pingpong", "a", [ALPHA + BETA * size] * 3, bytes=size) for size in SIZES]


def line(start: float, slope: float) -> Callable[[int], float]:
    return lambda size: start + slope * size


def only(rows: list[Row]) -> CollectiveLines:
    (found,) = collective_lines_of(rows)
    return found


@pytest.mark.parametrize(
    ("op", "cost", "name"),
    [
        ("mpi.allreduce", DOUBLING, "recursive doubling"),
        ("mpi.allreduce", HALVES, "reduce-scatter, allgather"),
        ("mpi.allreduce", RING, "ring"),
        ("mpi.alltoall", (15 * ALPHA, 15 * BETA), "pairwise"),
        ("mpi.alltoall", (4 * ALPHA, 32 * BETA), "Bruck"),
        ("mpi.allgather", (15 * ALPHA, 15 * BETA), "ring"),
        ("mpi.allreduce", (1 * ALPHA, 0.5 * BETA), None),  # as through memory
        ("mpi.scan", DOUBLING, None),  # nobody knows its algorithms
    ],
)
def test_a_line_has_the_algorithm_that_costs_as_much(
    op: str, cost: tuple[float, float], name: str | None
) -> None:
    found = only([*rows_of(op, line(*cost)), *pingpong()])
    (one,) = found.lines
    assert one.rounds == pytest.approx(cost[0] / ALPHA, rel=0.02)
    assert one.passes == pytest.approx(cost[1] / BETA, rel=0.02)
    assert one.algorithm == name


def test_the_size_at_which_it_changes_is_found() -> None:
    def time(size: int) -> float:
        return line(*DOUBLING)(size) if size < 32768 else line(*RING)(size)

    found = only([*rows_of("mpi.allreduce", time), *pingpong()])
    assert [one.piece.least for one in found.lines] == [8, 32768]
    assert [one.algorithm for one in found.lines] == ["recursive doubling", "ring"]
    (table,) = collective_tables([found])
    assert [one.cells[-1] for one in table.lines] == ["recursive doubling", "ring"]
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80


def test_without_messages_or_sizes_nothing_is_named() -> None:
    rows = rows_of("mpi.allreduce", line(*DOUBLING))
    assert [one.algorithm for one in only(rows).lines] == [None]
    assert collective_tables([only(rows)]) == ()
    assert collective_lines_of(rows[:5]) == ()
    assert collective_lines_of(rows_of("mpi.allreduce", line(*DOUBLING), method="batch")) == ()
