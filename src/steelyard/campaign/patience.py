"""How long a launch may write no record before the watchdog ends it."""

from __future__ import annotations

from collections.abc import Sized

from steelyard.base.units import parse_seconds
from steelyard.campaign.cause_of_death import LaunchPhase
from steelyard.records.schema import Launch

_LASTING = 60  # times the patience, for ops whose repetitions may last minutes, as kernels of large classes
# From the last record on, for MPI_Finalize; and where launches alike have hung there.
_CLOSING_SECONDS, _CLOSING_SECONDS_AGAIN = 20.0, 2.0


def phase_of(launch: Launch | None, unmeasured: Sized) -> LaunchPhase:
    """Find how far a launch has come; `launch` is its record, None before there is one."""
    if not unmeasured:
        return LaunchPhase.CLOSING
    return LaunchPhase.STARTING if launch is None else LaunchPhase.MEASURING


def patience_seconds(hang_after: str, phase: LaunchPhase, *, lasting: bool, hung: bool) -> float:
    """For how long a launch may be silent in a phase.

    `lasting`: repetitions of its ops may last minutes; `hung`: one like it has hung after its last test case.
    """
    seconds = parse_seconds(hang_after)
    if phase is LaunchPhase.CLOSING:
        return min(seconds, _CLOSING_SECONDS_AGAIN if hung else _CLOSING_SECONDS)
    return seconds * (_LASTING if lasting and phase is LaunchPhase.MEASURING else 1)


def silent_words(hang_after: str, seconds: float) -> str:
    """Write how long a launch was silent, in the user's words if it is the time that the plan names."""
    return hang_after if seconds == parse_seconds(hang_after) else f"{seconds:g}s"
