"""What kind of op a row is of, for those that treat some kinds alike."""

from __future__ import annotations

from steelyard.records.kinds import KERNEL, LATENCY, MPI
from steelyard.results.row import Row

ORIGIN, TARGET = "origin", "target"
# With these words of `complete`, a call may still be under way at the target.
_AT_ORIGIN = ("flush_local", "flush_local_all", "request")
_EPOCHS = ("sync", "complete")  # parameters of one-sided ops of MPI
# Parameters of a call that a caller is free to choose; `threads` is one, too.
CALL_OPTIONS = ("sync", "complete", "per", "window", "windows", "comms", "info")


def is_kernel(row: Row) -> bool:
    """Is it a row of a kernel?"""
    return row.role == KERNEL


def is_pingpong(row: Row) -> bool:
    """Is it a row of messages there and back over MPI?"""
    return row.layer == MPI and row.role == LATENCY


def is_one_sided(row: Row) -> bool:
    """Is it a row of one-sided calls of MPI: does its op have epochs?"""
    return row.mpi is not None and all(name in row.params for name in _EPOCHS)


def done_at(row: Row) -> str:
    """Say where a one-sided call is done when it is complete, `TARGET` or `ORIGIN`; empty for other ops."""
    if not is_one_sided(row):
        return ""
    return ORIGIN if row.params.get("complete") in _AT_ORIGIN else TARGET  # of other layers: at the target
