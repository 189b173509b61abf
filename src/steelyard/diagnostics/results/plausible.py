"""Checks of results against other results of the same machine that bound them."""

from __future__ import annotations

from steelyard.base.diagnostic import WARNING, check
from steelyard.base.units import format_time
from steelyard.diagnostics.results.evidence import Evidence, listed
from steelyard.records.kinds import KERNEL
from steelyard.results.facets import Roof
from steelyard.results.roofs import STREAM_COPY
from steelyard.results.row import Row

_BEYOND = 1.5  # times the roof: noise between two rows of a campaign is seldom larger
_COPIES = ("mem.copy", STREAM_COPY)  # whatever moves bytes contains one
_FLAG, _LINE = "shm.flag", 64  # a message hands one cache line over at least; a longer one has faster ways


@check(
    "above-roof",
    WARNING,
    "Faster than its roof",
    why="Nothing is done in less time than the copy, the message or the bytes through memory that it "
    "contains. The data were not moved, the clock is wrong, or the roof was measured beside other work.",
    remedy="Measure both again in one campaign on a quiet machine. If it stays, do not trust either number.",
)
def above_roof(evidence: Evidence) -> str | None:
    """Find test cases whose whole interval is above a roof that they contain; without kernels, whose data may
    be in a cache.

    A library may well be faster than the other ways to send a message: then its share of the roof says so.
    """
    rows = (
        row for row in evidence.rows if row.role != KERNEL and (row.get(Roof).of_roof_low or 0.0) > _BEYOND
    )
    return listed((row for row in rows if _contains_roof(row)), _roof_words)


def _contains_roof(row: Row) -> bool:
    roof = row.get(Roof).roof
    return roof in _COPIES or (roof == _FLAG and row.bytes <= _LINE)


def _roof_words(row: Row) -> str:
    found = row.get(Roof)
    return f"{format_time(row.time or 0.0)}, where {found.roof} takes {format_time(found.roof_ns or 0.0)}"
