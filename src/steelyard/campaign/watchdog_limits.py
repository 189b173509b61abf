"""How long a launch may write no record before the watchdog ends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized

from steelyard.base.units import parse_seconds
from steelyard.campaign.cause_of_death import LaunchPhase
from steelyard.campaign.repetition import repetition_seconds
from steelyard.engines.description import Op
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.schema import Launch

_LASTING = 60  # times the patience, for ops whose repetitions may last minutes, as kernels of large classes
# Repetitions for which a test case may write nothing: it fills buffers, checks the answer and warms up, which
# take as long as some six, and a busy machine takes ten times as long. That matters from GiB on.
_SILENT = 60
# From the last record on, for MPI_Finalize; and where launches alike have hung there.
_CLOSING_SECONDS, _CLOSING_SECONDS_AGAIN = 20.0, 2.0


def phase_of(launch: Launch | None, unmeasured: Sized) -> LaunchPhase:
    """Find how far a launch has come; `launch` is its record, None before there is one."""
    if not unmeasured:
        return LaunchPhase.CLOSING
    return LaunchPhase.STARTING if launch is None else LaunchPhase.MEASURING


def longest_repetition(points: Iterable[PlannedPoint], ops: Mapping[str, Op], cores: int) -> float:
    """Guess the time of the longest repetition, in s, but for ops that last, whose patience is another."""
    known = ((point, ops[point.op]) for point in points)
    return max((repetition_seconds(point, op, cores) for point, op in known if not op.lasts), default=0.0)


def patience_seconds(
    hang_after: str, phase: LaunchPhase, *, lasting: bool, hung: bool, longest: float = 0.0
) -> float:
    """For how long a launch may be silent in a phase.

    `lasting`: repetitions of its ops may last minutes; `hung`: one like it has hung after its last test case.
    `longest` are the seconds of a repetition of its others.
    """
    seconds = parse_seconds(hang_after)
    if phase is LaunchPhase.CLOSING:
        return min(seconds, _CLOSING_SECONDS_AGAIN if hung else _CLOSING_SECONDS)
    if phase is LaunchPhase.STARTING:
        return seconds
    return seconds * (_LASTING if lasting else 1) + _SILENT * longest


def silent_words(hang_after: str, seconds: float) -> str:
    """Write how long a launch was silent, in the user's words if it is the time that the plan names."""
    whole = round(seconds)
    return hang_after if whole == round(parse_seconds(hang_after)) else f"{whole}s"
