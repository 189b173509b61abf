"""The order in which people look for ops: in the index of `steelyard list` and in sentences."""

from __future__ import annotations

# What a reader looks for first; others follow in the order of the plan.
_FIRST = (
    *("pingpong", "bandwidth", "message_rate", "allreduce", "barrier", "bcast", "alltoall"),
    *("parallel", "for", "task", "mutex", "create", "stream.triad", "copy"),
)


def place_of(op: str) -> int:
    """Say how early readers look for an op of its family."""
    name = op.partition(".")[2]
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)
