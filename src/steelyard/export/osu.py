"""The text of OSU Micro-Benchmarks 7.

As `util/osu_util_mpi.c` and the tests of version 7.4 print it: columns of 18, two decimals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steelyard.export.exported import Export
from steelyard.export.suite_text import ORIGIN, Printed, suite_text
from steelyard.models.theirs import Block, bandwidth_mb, mean_us, rank_us, repetitions
from steelyard.results.row import Row

_VERSION = "v7.4"
_SIZE, _FIELD, _ITERATIONS = 10, 18, 12  # widths of columns
_ALONE = 17  # of the value of a test without sizes
_LATENCY, _RANKS, _BANDWIDTH, _RATE, _SYNC = "latency", "ranks", "bandwidth", "rate", "sync"
_EXCHANGE = "Personalized Exchange"
_COLLECTIVES = {
    "allgather": "Allgather",
    "allgatherv": "Allgatherv",
    "allreduce": "Allreduce",
    "alltoall": f"All-to-All {_EXCHANGE}",
    "alltoallv": f"All-to-Allv {_EXCHANGE}",
    "alltoallw": f"All-to-Allw {_EXCHANGE}",
    "barrier": "Barrier",
    "bcast": "Broadcast",
    "gather": "Gather",
    "gatherv": "Gatherv",
    "reduce": "Reduce",
    "reduce_scatter": "Reduce_scatter",
    "reduce_scatter_block": "Reduce_scatter_block",
    "scatter": "Scatter",
    "scatterv": "Scatterv",
}
_NEIGHBOURS = {"allgather": "Allgather", "allgatherv": "Allgatherv", "alltoall": "Alltoall"}
# Nonblocking ones are missing: they print an overlap, which their ops do not measure.
OSU_TESTS: Mapping[str, tuple[str, str]] = {
    "osu_latency": ("Latency Test", _LATENCY),
    "osu_latency_persistent": ("Latency Persistent Test", _LATENCY),
    "osu_latency_mp": ("Multi-process Latency Test", _LATENCY),
    "osu_latency_mt": ("Multi-threaded Latency Test", _LATENCY),
    "osu_multi_lat": ("Multi Latency Test", _LATENCY),
    "osu_bw": ("Bandwidth Test", _BANDWIDTH),
    "osu_bw_persistent": ("Bandwidth Persistent Test", _BANDWIDTH),
    "osu_bw_fan_in": ("Bandwidth Test", _BANDWIDTH),
    "osu_bw_fan_out": ("Bandwidth Test", _BANDWIDTH),
    "osu_bibw": ("Bi-Directional Bandwidth Test", _BANDWIDTH),
    "osu_bibw_persistent": ("Bi-Directional Bandwidth Persistent Test", _BANDWIDTH),
    "osu_mbw_mr": ("Multiple Bandwidth / Message Rate Test", _RATE),
    **{
        f"osu_{op}{form}": (f"{words} {kind}", _SYNC if op == "barrier" else _RANKS)
        for op, words in _COLLECTIVES.items()
        for form, kind in (("", "Latency Test"), ("_persistent", "Persistent Latency Test"))
    },
    **{
        f"osu_neighbor_{op}": (f"Neighborhood {words} Latency Test", _RANKS)
        for op, words in _NEIGHBOURS.items()
    },
}
_MPI_TYPES = {"int8": "INT8_T", "bool": "C_BOOL", "complex": "C_DOUBLE_COMPLEX"}


@dataclass(frozen=True, slots=True)
class _Switches:
    """`checked`: as with -c, with a column Validation; `full`: as with -f, with the ranks' extremes."""

    checked: bool
    full: bool


def osu_text(what: Export, checked: bool = False, full: bool = False) -> bytes:
    """Write text as OSU's tests do; `checked`: as with -c; `full`: as with -f. Raises InputError if none
    fits.
    """
    given = _Switches(checked, full)
    printed = Printed(
        "OSU", OSU_TESTS, lambda block: _head(block, given), lambda block, row: _line(block, row, given)
    )
    return suite_text(what, printed)


def _head(block: Block, given: _Switches) -> Iterator[str]:
    title, kind = OSU_TESTS[block.test.name]
    row = block.rows[0]
    if block.test.name == "osu_latency_mt":
        yield "# Number of Sender threads: 1 "
        yield f"# Number of Receiver threads: {row.threads}"
    yield ""
    yield f"# OSU MPI {title} {_VERSION}"
    if kind == _RATE:
        yield f"# [ pairs: {row.ranks // 2} ] [ window size: {row.params.get('window', 1):.0f} ]"
    yield ORIGIN
    if kind != _SYNC:
        yield f"# Datatype: {_datatype(row)}."
    yield "".join([*_heading(kind), *_more(block, kind, given, "Min Latency(us)", "Max Latency(us)")])


def _heading(kind: str) -> Iterator[str]:
    if kind == _SYNC:
        yield "# Avg Latency(us)"
        return
    yield f"{'# Size':<{_SIZE}}"
    columns = {_BANDWIDTH: ("Bandwidth (MB/s)",), _RATE: ("MB/s", "Messages/s")}
    for column in columns.get(kind, ("Avg Latency(us)",)):
        yield f"{column:>{_FIELD}}"


def _more(block: Block, kind: str, given: _Switches, least: str, most: str) -> Iterator[str]:
    """The headings of the columns that switches add."""
    if given.full and kind in (_RANKS, _SYNC):
        yield f"{least:>{_FIELD}}{most:>{_FIELD}}{'Iterations':>{_ITERATIONS}}"
    if _is_checked(block, kind, given):
        yield f"{'Validation':>{_FIELD}}"


def _is_checked(block: Block, kind: str, given: _Switches) -> bool:
    """Has it an answer to validate? A barrier has none."""
    return (
        given.checked and kind != _SYNC and all(row.verified is not None for row in block.rows if row.count)
    )


def _line(block: Block, row: Row, given: _Switches) -> str | None:
    _, kind = OSU_TESTS[block.test.name]
    values = _values(block, row, kind)
    if given.full and kind in (_RANKS, _SYNC):
        values += [rank_us(row, block.test, "min"), rank_us(row, block.test, "max")]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    width = _ALONE if kind == _SYNC else _FIELD
    line = "" if kind == _SYNC else f"{row.bytes:<{_SIZE}}"
    line += f"{numbers[0]:{width}.2f}" + "".join(f"{value:{_FIELD}.2f}" for value in numbers[1:])
    if given.full and kind in (_RANKS, _SYNC):
        line += f"{repetitions(row):{_ITERATIONS}}"
    if _is_checked(block, kind, given):
        line += f"{'Pass' if row.verified else 'Fail':>{_FIELD}}"
    return line


def _values(block: Block, row: Row, kind: str) -> list[float | None]:
    if kind in (_BANDWIDTH, _RATE):
        rate = bandwidth_mb(row)
        messages = None if rate is None or not row.bytes else 1e6 * rate / row.bytes
        return [rate] if kind == _BANDWIDTH else [rate, messages]
    return [mean_us(row, block.test)]


def _datatype(row: Row) -> str:
    word = str(row.params.get("type", "char"))
    return f"MPI_{_MPI_TYPES.get(word, word.upper())}"
