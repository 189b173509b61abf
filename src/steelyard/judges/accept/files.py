"""Files: bytes and names a second against a reference, hosts among their peers, MPI-IO against its floor."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.base.units import format_bytes, format_factor
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion, gravest_of
from steelyard.judges.accept.floors import MOST_TIMES
from steelyard.judges.accept.peer_groups import FILES_HOST
from steelyard.judges.accept.places import judge_places
from steelyard.judges.accept.reference import against_reference
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.kinds import FILE
from steelyard.results.facets import Files, Roof
from steelyard.results.row import Row


@criterion(
    "files",
    "Are files as fast as in the reference, on each host, and by MPI-IO?",
    remedy="See what else uses the file system, how full it is, its mount options (file_system and "
    "mount_options of results.json) and its servers. Measure again.",
)
def files(candidate: Candidate) -> Finding | None:
    """Judge by whatever was measured of the three; None where no folder for files was given."""
    rows = [row for row in candidate.weighed.rows if row.role == FILE]
    if not rows:
        return None
    if all(row.status != "ok" for row in rows):
        return Finding(CANNOT_TELL, "No test case of files ended well.", candidate.weighed.measure_it())
    found = [one for find in _QUESTIONS if (one := find(candidate)) is not None]
    if not found:
        return Finding(
            CANNOT_TELL,
            "Files were measured, and neither a reference, nor other hosts, nor MPI-IO to compare them with.",
            "Give the results of a sound machine: --reference DIR.",
        )
    return gravest_of(found)


def _against_reference(candidate: Candidate) -> Finding | None:
    return against_reference(candidate, lambda row: row.role == FILE)


def _among_hosts(candidate: Candidate) -> Finding | None:
    has_hosts = any(test.kind == FILES_HOST for test in candidate.weighed.tests)
    return judge_places(candidate.weighed, FILES_HOST) if has_hosts else None


def _by_mpi_io(candidate: Candidate) -> Finding | None:
    """Hold MPI-IO against the same pieces without MPI, with the whole interval."""
    known = [row for row in candidate.weighed.rows if row.get(Files).below and row.get(Roof).of_roof]
    if not known:
        return None
    slow = [row for row in known if (row.get(Roof).of_roof_high or 1.0) < 1 / MOST_TIMES]
    worst = min(slow or known, key=lambda row: row.get(Roof).of_roof or 0.0)
    if slow:
        return Finding(
            NOT_WELL, f"{_words(worst)}; {MOST_TIMES:g} times are allowed.", launches=worst.launch_count
        )
    if any((row.get(Roof).of_roof_low or 0.0) < 1 / MOST_TIMES for row in known):
        return Finding(
            CANNOT_TELL,
            f"{_words(worst)}; the intervals leave open whether it is more than {MOST_TIMES:g} times.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"The farthest of MPI-IO from its floor: {_words(worst)}.")


def _words(row: Row) -> str:
    """`mpi.io.write_at_all of openmpi-4.1.4 takes 1.3 times as long as file.pwrite at 1 MiB`."""
    found = row.get(Roof)
    times = format_factor(1 / (found.of_roof or 1.0))
    return f"{row.op} of {row.mpi} takes {times} times as long as {found.roof} at {format_bytes(row.bytes)}"


_QUESTIONS: tuple[Callable[[Candidate], Finding | None], ...] = (
    _against_reference,
    _among_hosts,
    _by_mpi_io,
)
