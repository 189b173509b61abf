"""MPI against the layers below it, and results that are too good."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.efficiency.model import Efficiency, efficiencies
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_factor, format_time
from steelyard.judges.accept.criterion import (
    NOT_WELL,
    WELL,
    Candidate,
    Finding,
    criterion,
    from_checks,
)
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.facets import Roof
from steelyard.results.row import Row

MOST_TIMES = (
    5.0  # as long as the fastest layer: matching and progress cost less, sockets instead of memory more
)
_IMPOSSIBLE = ("above-roof", "not-positive", "impossible")  # checks


@criterion(
    "floor",
    "Does MPI come near what lies below it?",
    remedy="See which transport the library chose (UCX_TLS, FI_PROVIDER, OMPI_MCA_btl, an MPI built without "
    "shared memory), and whether its ranks wait by sleeping. The report draws all layers.",
)
def floor(candidate: Candidate) -> Finding:
    """Compare each message with the fastest layer that could have brought it; layers are of the default
    placement.
    """
    rows = [row for row in candidate.weighed.rows if row.placed is None]
    known = [efficiency for efficiency in efficiencies(rows) if efficiency.efficiency]
    if not known:
        return Finding(
            CANNOT_TELL,
            "No message of an MPI was measured beside a layer below it.",
            candidate.weighed.measure_it(),
        )
    bad = [one for one in known if one.high is not None and one.high < 1 / MOST_TIMES]
    worst = min(bad or known, key=lambda one: one.efficiency or 0.0)
    count = counted(len(known), "test case")
    if bad:
        return Finding(
            NOT_WELL,
            f"{len(bad)} of {count}: {_words(worst)}; {MOST_TIMES:g} times are allowed.",
            launches=max(_launches(one, rows) for one in bad),
            brief=_words(worst),
        )
    if any(one.low is None or one.low < 1 / MOST_TIMES for one in known):
        return Finding(
            CANNOT_TELL,
            f"{_words(worst)}; the intervals leave open whether it is more than {MOST_TIMES:g} times.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"The farthest of {count}: {_words(worst)}.")


@criterion(
    "roofs",
    "Is any number too good to be true?",
    remedy="Measure again on a quiet machine. If it stays, report it to the makers of Steelyard.",
)
def roofs(candidate: Candidate) -> Finding:
    """Report the checks of results that are too good."""
    rows = [row for row in candidate.weighed.rows if row.get(Roof).of_roof is not None]
    found = [one for one in candidate.weighed.found if one.name in _IMPOSSIBLE]
    if not rows and not found:
        return Finding(CANNOT_TELL, "Nothing was measured beside its roof.", candidate.weighed.measure_it())
    well = f"None of {counted(len(rows), 'test case')} is faster than its roof."
    return from_checks(found, well, candidate.weighed.launches)


def _launches(efficiency: Efficiency, rows: Sequence[Row]) -> int:
    """Count the launches of MPI's message and of its floor: the smaller number."""
    own = (
        [row.launch_count for row in rows if (row.op, row.bytes, row.mpi) == (op, efficiency.bytes, mpi)]
        for op, mpi in ((efficiency.op, efficiency.mpi), (efficiency.floor, None))
    )
    return min(max(counts, default=0) for counts in own)


def _words(efficiency: Efficiency) -> str:
    """Write `mpi.pingpong of openmpi-4.1.4 takes 2.4 times as long as shm.flag at 8 B (310 ns)`."""
    times = format_factor(1 / (efficiency.efficiency or 1.0))
    return (
        f"{efficiency.op} of {efficiency.mpi} takes {times} times as long as {efficiency.floor_words} "
        f"at {format_bytes(efficiency.bytes)} ({format_time(efficiency.mpi_ns)})"
    )
