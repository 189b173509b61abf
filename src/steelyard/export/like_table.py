"""Results in the columns of a test of another suite, from our samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from steelyard.export.suite_tests import (
    IMB,
    OSU,
    Theirs,
    bandwidth_mb,
    blocks_of,
    mean_us,
    rank_us,
    repetitions,
    size_of,
)
from steelyard.render.table import NOTHING, Line, Table, number
from steelyard.results.facets import Ranks
from steelyard.results.row import Row

_NOTE = "These are means, as theirs are; slow samples weigh more in them than in our medians."

_Cell = Callable[[Row, Theirs], str]


def _two(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _size(row: Row, test: Theirs) -> str:
    return str(size_of(row, test))


def _samples(row: Row, _: Theirs) -> str:
    return str(repetitions(row))


def _mb(row: Row, _: Theirs) -> str:
    return _two(bandwidth_mb(row))


def _mean(row: Row, test: Theirs) -> str:
    return _two(mean_us(row, test))


def _of_ranks(key: str) -> _Cell:
    return lambda row, test: _two(rank_us(row, test, key))


_Cells = tuple[tuple[str, _Cell], ...]
# Suite and subject of a test -> the columns that it prints.
_COLUMNS: Mapping[tuple[str, str], _Cells] = {
    (OSU, "bandwidth"): (("Size", _size), ("Bandwidth (MB/s)", _mb)),
    (OSU, "time"): (("Size", _size), ("Avg Latency(us)", _mean)),
    (OSU, "ranks"): (
        *(("Size", _size), ("Avg Latency(us)", _of_ranks("avg"))),
        *(("Min Latency(us)", _of_ranks("min")), ("Max Latency(us)", _of_ranks("max"))),
        ("Iterations", _samples),
    ),
    (IMB, "bandwidth"): (("#bytes", _size), ("#repetitions", _samples), ("Mbytes/sec", _mb)),
    (IMB, "time"): (
        *(("#bytes", _size), ("#repetitions", _samples), ("t[usec]", _mean), ("Mbytes/sec", _mb)),
    ),
    (IMB, "ranks"): (
        *(("#bytes", _size), ("#repetitions", _samples), ("t_min[usec]", _of_ranks("min"))),
        *(("t_max[usec]", _of_ranks("max")), ("t_avg[usec]", _of_ranks("avg"))),
    ),
}


def like_tables(tests: Sequence[Theirs], rows: Sequence[Row]) -> Iterator[Table]:
    """Make a table, ordered by size, for each test with known columns and each MPI."""
    for test in tests:
        for block in blocks_of([row for row in rows if row.status == "ok"], [test])[0]:
            first = block.rows[0]
            if columns := _COLUMNS.get((test.suite, _about(first, test))):
                yield Table(
                    title=f"{test.name}, as it would print it",
                    explained=f"{first.mpi or 'without MPI'}, {first.ranks} ranks",
                    columns=tuple(number(name) for name, _ in columns),
                    lines=tuple(Line(tuple(cell(row, test) for _, cell in columns)) for row in block.rows),
                    notes=(_NOTE,),
                )


def _about(row: Row, test: Theirs) -> str:
    """Find what the test prints: a bandwidth, a time, or times of ranks. The kind of a pattern says that."""
    kind = test.params.get("kind")
    if row.headline == "bandwidth" or kind in ("window", "biwindow"):
        return "bandwidth"
    return "ranks" if row.get(Ranks).osu and kind != "pingpong" else "time"
