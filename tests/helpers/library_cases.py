"""Test cases of the ops of a library, short ones, so that each word of each parameter is in one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from steelyard.engines.description import Op
from steelyard.records.kinds import FILE

_SIZES = (8, 40, 8192)
_FIXED = "rule=fixed count=2 bytes=1000"
_PLACED = ("mpi.io.write_at", "mpi.io.write_all", "mpi.io.read_at_all", "mpi.io.iread")
_MACHINE = ("pages", "node", "check")  # what another machine refuses or has more of, and how often is checked
_ALL = 99  # more than a parameter has words


def shmem_lines(ops: Sequence[Op], ranks: int, threads: int, most: int = _ALL) -> Iterator[str]:
    """Those of OpenSHMEM on so many ranks of so many threads, or the first `most` of each op."""
    for op in ops:
        is_there = op.name.startswith("shmem.") and op.available and op.min_ranks <= ranks
        if is_there and (threads == 1 or op.max_threads == 0):
            yield from _lines_of(op, threads, most)


def _lines_of(op: Op, threads: int, most: int) -> Iterator[str]:
    worded = [row for row in op.params if row.words and row.name not in _MACHINE]
    counted = "".join(f" {row.name}=3" for row in op.params if row.name == "calls")
    for case in range(min(most, max((len(row.words) for row in worded), default=1))):
        words = "".join(
            f" {row.name}={row.words[(case + turn) % len(row.words)]}" for turn, row in enumerate(worded)
        )
        size = f" bytes={_SIZES[case % len(_SIZES)]}" if op.sized else ""
        method = "barrier" if op.class_ == "collective" else "batch reps=2"
        yield f"op={op.name} threads={threads}{size}{counted}{words} method={method} rule=fixed count=2"


def io_lines(ops: Sequence[Op]) -> Iterator[str]:
    """Each call of MPI-IO."""
    for op in ops:
        if op.role == FILE and op.name.startswith("mpi.io."):
            yield f"op={op.name} {_FIXED}" + (" calls=6" if any(p.name == "calls" for p in op.params) else "")


def io_patterns() -> Iterator[str]:
    """Patterns, views, modes, syncs and hints of calls of each kind."""
    views = ("offsets", "type", "once")
    patterns = ("contiguous", "strided", "segmented", "nested", "random")
    for op, view, pattern in itertools.product(_PLACED, views, patterns):
        if pattern != "random" or view == "offsets":
            yield f"op={op} {_FIXED} calls=6 view={view} pattern={pattern}"
    for op in _PLACED:
        if op != "mpi.io.iread":
            yield f"op={op} {_FIXED} calls=6 memory=one sync=visible pattern=strided"
        yield f"op={op} {_FIXED} calls=6 file=own pattern=strided view=type"
        yield f"op={op} {_FIXED} calls=6 atomic=on sync=inside pattern=strided"
        if ".write" in op:
            yield f"op={op} {_FIXED} calls=6 atomic=overlapping pattern=strided"
        yield f"op={op} {_FIXED} calls=6 hint.cb_nodes=1 hint.romio_cb_write=enable pattern=strided view=once"
