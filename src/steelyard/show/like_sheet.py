"""What a test of another suite would have printed: its own columns, from our samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.results.facets import Ranks, Rate, Samples
from steelyard.results.row import Row
from steelyard.show.sheet import NOTHING, Line, Sheet, number

_NOTE = (
    "Times are means, as theirs, in which slow samples weigh more than in our medians; bandwidth is at our "
    "median."
)


@dataclass(frozen=True, slots=True)
class Theirs:
    """A test of another suite, and the rows that are about it: an op with parameters."""

    suite: str
    name: str
    op: str
    params: Mapping[str, float | str]

    def has(self, row: Row) -> bool:
        """Is a row of this test?"""
        return row.op == self.op and self.params.items() <= dict(row.params).items()


def _us(ns: float | None) -> str:
    return NOTHING if ns is None else f"{ns / 1e3:.2f}"


def _size(row: Row) -> str:
    return str(row.bytes)


def _samples(row: Row) -> str:
    return str(row.count)


def _mb(row: Row) -> str:
    """Millions of bytes a second, as both suites print them."""
    rate = row.get(Rate)
    return NOTHING if rate is None or rate.bandwidth is None else f"{rate.bandwidth / 1e6:.2f}"


def _mean(row: Row) -> str:
    samples = row.get(Samples)
    return _us(samples.mean) if samples is not None else NOTHING


def _of_ranks(key: str) -> Callable[[Row], str]:
    def value(row: Row) -> str:
        ranks = row.get(Ranks)
        return _us(ranks.osu.get(key)) if ranks is not None else NOTHING

    return value


_Cells = tuple[tuple[str, Callable[[Row], str]], ...]
_OSU, _IMB = "OSU Micro-Benchmarks", "Intel MPI Benchmarks"
# Suite and what a test is about -> the columns that it prints.
_COLUMNS: Mapping[tuple[str, str], _Cells] = {
    (_OSU, "bandwidth"): (("Size", _size), ("Bandwidth (MB/s)", _mb)),
    (_OSU, "time"): (("Size", _size), ("Avg Latency(us)", _mean)),
    (_OSU, "ranks"): (
        *(("Size", _size), ("Avg Latency(us)", _of_ranks("avg"))),
        *(("Min Latency(us)", _of_ranks("min")), ("Max Latency(us)", _of_ranks("max"))),
        ("Iterations", _samples),
    ),
    (_IMB, "bandwidth"): (("#bytes", _size), ("#repetitions", _samples), ("Mbytes/sec", _mb)),
    (_IMB, "time"): (
        *(("#bytes", _size), ("#repetitions", _samples), ("t[usec]", _mean), ("Mbytes/sec", _mb)),
    ),
    (_IMB, "ranks"): (
        *(("#bytes", _size), ("#repetitions", _samples), ("t_min[usec]", _of_ranks("min"))),
        *(("t_max[usec]", _of_ranks("max")), ("t_avg[usec]", _of_ranks("avg"))),
    ),
}


def like_sheets(tests: Sequence[Theirs], rows: Sequence[Row]) -> Iterator[Sheet]:
    """A table for each test of a suite whose columns are known, and each MPI, in the order of sizes."""
    for test in tests:
        found = [row for row in rows if row.status == "ok" and test.has(row)]
        for mpi in dict.fromkeys((row.mpi, row.ranks) for row in found):
            mine = sorted((row for row in found if (row.mpi, row.ranks) == mpi), key=lambda row: row.bytes)
            if columns := _COLUMNS.get((test.suite, _about(mine[0]))):
                yield Sheet(
                    title=f"{test.name}, as it would print it",
                    explained=f"{mpi[0] or 'without MPI'}, {mpi[1]} ranks",
                    columns=tuple(number(name) for name, _ in columns),
                    lines=tuple(Line(tuple(cell(row) for _, cell in columns)) for row in mine),
                    notes=(_NOTE,),
                )


def _about(row: Row) -> str:
    if row.headline == "bandwidth":
        return "bandwidth"
    ranks = row.get(Ranks)
    return "ranks" if ranks is not None and ranks.osu else "time"
