"""Checks of buffers: whether writing them is part of the time."""

from __future__ import annotations

from steelyard.base.diagnostic import NOTE, check
from steelyard.diagnostics.results.evidence import Evidence, listed
from steelyard.results.row import Row

_STAMPS_AFTER = "each"  # the method whose sender reads its clock after it has written


@check(
    "write-timed",
    NOTE,
    "The time contains writing",
    why="With buffer=written the sender writes each payload before it sends it. This method reads its clock "
    "around whole repetitions, so the time includes the writing.",
    remedy="Measure ping-pongs with --method each, which reads the clock between writing and sending. For "
    "other ops there is no such method.",
)
def write_timed(evidence: Evidence) -> str | None:
    """Find test cases whose time includes writing the payload."""
    return listed([row for row in evidence.rows if _writes(row)], lambda row: f"by {row.method}")


def _writes(row: Row) -> bool:
    return row.status == "ok" and row.params.get("buffer") == "written" and row.method != _STAMPS_AFTER
