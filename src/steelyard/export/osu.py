"""The text of OSU Micro-Benchmarks 7.

As `util/osu_util_mpi.c` and the tests of version 7.4 print it: columns of 18, two decimals. A number that our
row has not is printed as C prints one that is none, `nan`, with a comment above the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steelyard.base.element_types import ELEMENT_BYTES
from steelyard.export.export_input import Export
from steelyard.export.osu_tests import (
    ACTIVE,
    ACTIVE_SYNC,
    ATOMIC,
    BANDWIDTH,
    CALL,
    CALL_RATE,
    HELLO,
    NUMBER,
    OPENSHMEM,
    OSU_TESTS,
    OVERLAP,
    OVERLAP_SYNC,
    PUT,
    PUT_BANDWIDTH,
    PUT_OVERLAP,
    RANKS,
    RATE,
    START,
    SWAP,
    SYNC,
    UNTYPED,
)
from steelyard.export.suite_tests import Block, bandwidth_mb, mean_us, rank_us, repetitions, size_of
from steelyard.export.suite_text import ORIGIN, Printed, suite_text
from steelyard.results.row import Row

_VERSION = "v7.4"
_SIZE, _NAME, _FIELD, _ITERATIONS = 10, 20, 18, 12  # widths of columns
_NARROW = 17  # of the numbers, not of the headings, of a put beside work
_ALONE, _OVERLAP_ALONE = 17, 13  # of the first value of a test without sizes
_ONE_SIDED = (ATOMIC, PUT, PUT_BANDWIDTH, SWAP, UNTYPED)
_WITHOUT_SIZES = (SYNC, OVERLAP_SYNC, ACTIVE_SYNC)
_FULL = (RANKS, SYNC, ACTIVE, ACTIVE_SYNC)  # kinds to which -f adds the ranks' extremes and the iterations
_UNCHECKED = (SYNC, OVERLAP_SYNC, PUT, PUT_BANDWIDTH, UNTYPED, START, HELLO, *OPENSHMEM)
_MPI_TYPES = {"int8": "CHAR", "byte": "CHAR", "bool": "C_BOOL", "complex": "C_DOUBLE_COMPLEX"}
_WINDOWS = {"create": "MPI_Win_create", "dynamic": "MPI_Win_create_dynamic"}
_SYNCS = {
    **dict.fromkeys(("flush", "flush_all"), "MPI_Win_flush"),
    **dict.fromkeys(("flush_local", "flush_local_all"), "MPI_Win_flush_local"),
    "pscw": "MPI_Win_post/start/complete/wait",
    "fence": "MPI_Win_fence",
    "lock_all": "MPI_Win_lock_all/unlock_all",
}


@dataclass(frozen=True, slots=True)
class _Switches:
    """`checked`: as with -c, with a column Validation; `full`: as with -f, with the ranks' extremes."""

    checked: bool
    full: bool


def osu_text(what: Export, checked: bool = False, full: bool = False) -> bytes:
    """Write text as OSU's tests do; `checked`: as with -c; `full`: as with -f. Raises InputError if none
    fits.
    """
    return suite_text(what, osu_printed(checked, full))


def osu_printed(checked: bool = False, full: bool = False) -> Printed:
    """Make the form of OSU's tests, as with -c and -f."""
    given = _Switches(checked, full)
    return Printed(
        "OSU", OSU_TESTS, lambda block: _head(block, given), lambda block, row: _line(block, row, given)
    )


def _head(block: Block, given: _Switches) -> Iterator[str]:
    title, kind = OSU_TESTS[block.test.name]
    row = block.rows[0]
    if block.test.name == "osu_latency_mt":
        yield "# Number of Sender threads: 1 "
        yield f"# Number of Receiver threads: {row.threads}"
    if kind not in (*_ONE_SIDED, START, HELLO, *OPENSHMEM):
        yield ""
    yield f"# OSU {title} {_VERSION}"
    if kind in (START, HELLO):
        yield ORIGIN
        if kind == START:
            yield "# The time is that of MPI_Init_thread, over launches."
        return
    if kind == RATE:
        yield f"# [ pairs: {row.ranks // 2} ] [ window size: {row.params.get('window', 1):.0f} ]"
    if kind in (OVERLAP, OVERLAP_SYNC, PUT_OVERLAP):
        yield "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait"
        yield ""
    yield ORIGIN
    if kind in (OVERLAP, OVERLAP_SYNC):
        yield f"# nan: {row.op} has no work beside it; mpi.overlap.{row.op.removeprefix('mpi.')} measures it."
    if kind in _ONE_SIDED:
        yield f"# Window creation: {_WINDOWS.get(str(row.params.get('window')), 'MPI_Win_allocate')}"
        yield f"# Synchronization: {_sync(row)}"
    if kind == PUT_OVERLAP:
        yield f"# nan: {row.op} has no work beside it."
    if kind not in (*_WITHOUT_SIZES, UNTYPED, *OPENSHMEM):
        yield f"# Datatype: {_datatype(row)}."
    yield "".join([*_heading(kind), *_more(block, kind, given)])


def _sync(row: Row) -> str:
    """Name the synchronisation of a one-sided test as they do."""
    opened, completed = str(row.params.get("sync", "lock_all")), str(row.params.get("complete", "flush"))
    return _SYNCS.get(completed) or _SYNCS.get(opened) or "MPI_Win_lock/unlock"


def _heading(kind: str) -> Iterator[str]:
    if kind in (SYNC, ACTIVE_SYNC):
        yield "# Avg Latency(us)"
    elif kind == OVERLAP_SYNC:
        yield "# Overall(us)"
    elif kind == NUMBER:
        yield f"{'# Operation':<{_NAME}}{'Million ops/s':>{_FIELD}}{'Latency (us)':>{_FIELD}}"
    else:
        yield f"{'# Size':<{_SIZE}}"
        columns: Mapping[str, tuple[str, ...]] = {
            **dict.fromkeys((BANDWIDTH, PUT_BANDWIDTH), ("Bandwidth (MB/s)",)),
            **dict.fromkeys((ATOMIC, PUT, SWAP, UNTYPED, CALL), ("Latency (us)",)),
            RATE: ("MB/s", "Messages/s"),
            CALL_RATE: ("Messages/s",),
            PUT_OVERLAP: ("Compute(us)", "Coll. Init(us)", "MPI_Wait(us)", "Pure Comm.(us)", "Overlap(%)"),
            OVERLAP: ("Overall(us)",),
        }
        for column in columns.get(kind, ("Avg Latency(us)",)):
            yield f"{column:>{_FIELD}}"


def _more(block: Block, kind: str, given: _Switches) -> Iterator[str]:
    """The further headings, and those of the columns that switches add."""
    if kind in (OVERLAP, OVERLAP_SYNC):
        inner = ("Coll. Init(us)", "MPI_Test(us)", "MPI_Wait(us)") if given.full else ()
        pure = ("Pure Comm.(us)", *(("Min Comm.(us)", "Max Comm.(us)") if given.full else ()))
        for column in ("Compute(us)", *inner, *pure, "Overlap(%)"):
            yield f"{column:>{_FIELD}}"
    if given.full and kind in _FULL:
        yield f"{'Min Latency(us)':>{_FIELD}}{'Max Latency(us)':>{_FIELD}}{'Iterations':>{_ITERATIONS}}"
    if _is_checked(block, kind, given):
        yield f"{'Validation':>{_FIELD}}"


def _is_checked(block: Block, kind: str, given: _Switches) -> bool:
    """Has it an answer to validate? A barrier has none, and OSU's puts and gets check none."""
    return (
        given.checked
        and kind not in _UNCHECKED
        and all(row.verified is not None for row in block.rows if row.count)
    )


def _line(block: Block, row: Row, given: _Switches) -> str | None:
    _, kind = OSU_TESTS[block.test.name]
    if kind == HELLO:
        return f"This is a test with {row.ranks} processes"
    values = _values(block, row, kind, given)
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    if kind == START:
        least, most, mean = (f"{number / 1e3:.0f} ms" for number in numbers)
        return f"nprocs: {row.ranks}, min: {least}, max: {most}, avg: {mean}"
    others = _NARROW if kind == PUT_OVERLAP else _FIELD
    width = {SYNC: _ALONE, ACTIVE_SYNC: _ALONE, OVERLAP_SYNC: _OVERLAP_ALONE}.get(kind, others)
    line = "" if kind in _WITHOUT_SIZES else _named(block, row, kind)
    line += f"{numbers[0]:{width}.2f}" + "".join(f"{value:{others}.2f}" for value in numbers[1:])
    if given.full and kind in _FULL:
        line += f"{repetitions(row):{_ITERATIONS}}"
    if _is_checked(block, kind, given):
        words = ("passed", "failed") if kind in _ONE_SIDED else ("Pass", "Fail")
        line += f"{words[0] if row.verified else words[1]:>{_FIELD}}"
    return line


def _named(block: Block, row: Row, kind: str) -> str:
    """Name a line by its size, or by its call."""
    return f"{block.test.name:<{_NAME}}" if kind == NUMBER else f"{_bytes(block, row, kind):<{_SIZE}}"


def _bytes(block: Block, row: Row, kind: str) -> int:
    """The size, or that of the one number."""
    if kind == SWAP:
        return ELEMENT_BYTES.get(str(row.params.get("type", "long")), 1)
    return size_of(row, block.test)


def _values(block: Block, row: Row, kind: str, given: _Switches) -> list[float | None]:
    test = block.test
    extremes = [rank_us(row, test, "min"), rank_us(row, test, "max")]
    mean = mean_us(row, test)
    if kind in (BANDWIDTH, PUT_BANDWIDTH, RATE):
        rate = bandwidth_mb(row)
        messages = None if rate is None or not row.bytes else 1e6 * rate / row.bytes
        return [rate, messages] if kind == RATE else [rate]
    if kind == CALL_RATE:
        return [_per_second(row.params.get("calls"), mean)]
    if kind == NUMBER:
        rate = _per_second(1, mean)
        return [None if rate is None else rate / 1e6, mean]
    if kind == PUT_OVERLAP:
        return [math.nan, math.nan, math.nan, mean, math.nan]
    if kind == START:
        return [*(mean if extreme is None else extreme for extreme in extremes), mean]
    if kind in (OVERLAP, OVERLAP_SYNC):
        unknown = [math.nan] * (5 if given.full else 2)  # overall, compute, and what is inside
        return [*unknown, mean, *(extremes if given.full else ()), math.nan]
    return [mean, *(extremes if given.full and kind in _FULL else ())]


def _per_second(calls: object, mean: float | None) -> float | None:
    return float(calls) * 1e6 / mean if isinstance(calls, int | float) and mean else None


def _datatype(row: Row) -> str:
    word = str(row.params.get("type", "char"))
    return f"MPI_{_MPI_TYPES.get(word, word.upper())}"
