"""Tables as Intel MPI Benchmarks print them: those of IMB-MPI1, and the pure ones of IMB-NBC and IMB-MPI4.

As `IMB_output.c` of version 2021 prints them: columns of 13, two decimals; t is the greatest of the ranks'
means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.export.export_input import Export
from steelyard.export.suite_tests import Block, bandwidth_mb, mean_us, rank_us, repetitions
from steelyard.export.suite_text import ORIGIN, Printed, suite_text
from steelyard.results.row import Row

_FIELD = 13
_SINGLE, _PARALLEL, _RATE, _RANKS, _SYNC = "single", "parallel", "rate", "ranks", "sync"
_TIMES = ("t_min[usec]", "t_max[usec]", "t_avg[usec]")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    _SINGLE: ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec"),
    _PARALLEL: ("#bytes", "#repetitions", *_TIMES, "Mbytes/sec"),
    _RATE: ("#bytes", "#repetitions", "Mbytes/sec", "Msg/sec"),
    _RANKS: ("#bytes", "#repetitions", *_TIMES),
    _SYNC: ("#repetitions", *_TIMES),
}
_COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
)
# Those that print an overlap are missing: their ops do not measure it.
IMB_TESTS: Mapping[str, str] = {
    **{f"{test}{source}": _SINGLE for test in ("PingPong", "PingPing") for source in ("", "SpecificSource")},
    **dict.fromkeys(("PingPongAnySource", "PingPingAnySource"), _SINGLE),
    **dict.fromkeys(("Sendrecv", "Exchange"), _PARALLEL),
    **dict.fromkeys(("Uniband", "Biband"), _RATE),
    **{
        name: _SYNC if base == "barrier" else _RANKS
        for base in _COLLECTIVES
        for name in (base.capitalize(), f"I{base}_pure", f"{base.capitalize()}_persist_pure")
        if base != "reduce_scatter_block" or name == base.capitalize()
    },
}
_MESSAGES = {"Sendrecv": 2, "Exchange": 4}  # of a rank, in a repetition: their bandwidth counts each


def imb_text(what: Export) -> bytes:
    """Write tables as IMB does. Raises InputError if it prints none of the rows."""
    return suite_text(what, imb_printed())


def imb_printed() -> Printed:
    """Make the form of IMB's tests."""
    return Printed("IMB", IMB_TESTS, _head, _line)


def _head(block: Block) -> Iterator[str]:
    columns = _COLUMNS[IMB_TESTS[block.test.name]]
    rule = "#" + "-" * (len(columns) * _FIELD - 1)
    yield ""
    yield ORIGIN
    yield rule
    yield f"# Benchmarking {block.test.name} "
    yield f"# #processes = {block.rows[0].ranks} "
    yield rule
    yield "".join(f"{column:>{_FIELD}}" for column in columns)


def _line(block: Block, row: Row) -> str | None:
    kind = IMB_TESTS[block.test.name]
    values = _values(block, row, kind)
    if any(value is None for value in values):
        return None
    counts = [repetitions(row)] if kind == _SYNC else [row.bytes, repetitions(row)]
    decimals = [2] * len(values) if kind != _RATE else [2, 0]
    return "".join(
        [
            *(f"{count:{_FIELD}}" for count in counts),
            *(f"{value:{_FIELD}.{places}f}" for value, places in zip(values, decimals, strict=True)),
        ]
    )


def _values(block: Block, row: Row, kind: str) -> list[float | None]:
    test = block.test
    least, most = rank_us(row, test, "min"), rank_us(row, test, "max")
    if kind == _RATE:
        rate = bandwidth_mb(row) if row.bytes else 0.0
        return [rate, None if rate is None else 1e6 * rate / row.bytes if row.bytes else 0.0]
    if kind == _SINGLE:
        t = mean_us(row, test) if most is None else most
        return [t, row.bytes / t if t else None]
    times = [least, most, rank_us(row, test, "avg")]
    if kind == _PARALLEL:
        return [*times, _MESSAGES[test.name] * row.bytes / most if most else None]
    return list(times)
