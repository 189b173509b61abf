"""The settings of the machine, and disturbances of the measurement."""

from __future__ import annotations

import msgspec

from steelyard.base.diagnostic import NOTE
from steelyard.diagnostics.machine import examine_recorded
from steelyard.judges.accept.criterion import Candidate, Finding, criterion, from_checks
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.states import unnamed

_UNNAMED = "busy-unnamed"
# The checks for other work on the cores, and for slow cores.
_DISTURBED = (
    "busy-neighbour",
    _UNNAMED,
    "busy-beside",
    "stolen",
    "throttled",
    "too-hot",
    "frequency",
)


@criterion(
    "settings",
    "Is the system set up to be measured?",
    remedy="Measure it with this version of Steelyard.",
)
def settings(candidate: Candidate) -> Finding:
    """Judge the machine and settings in the records as the doctor does; its notes are no faults."""
    measured = candidate.weighed.measured
    told = next((file.job.settings for file in measured.files if file.job.settings), {})
    try:
        found = examine_recorded(measured.campaign.machine, told)
    except msgspec.ValidationError:
        return Finding(CANNOT_TELL, "The records do not say how the machine is set up.")
    faults = [one for one in found if one.severity != NOTE]
    notes = [one.what[0].lower() + one.what[1:] for one in found if one.severity == NOTE]
    return from_checks(faults, "No fault." + (f" To know: {', '.join(notes)}." if notes else ""))


@criterion(
    "quiet",
    "Did the ranks have their cores to themselves?",
    remedy="Measure on a quiet machine.",
)
def quiet(candidate: Candidate) -> Finding:
    """Judge by the checks of interference."""
    if not candidate.weighed.rows:
        return Finding(CANNOT_TELL, "Nothing was measured.", candidate.weighed.measure_it())
    found = [one for one in candidate.weighed.found if one.name in _DISTURBED]
    if [one.name for one in found] == [_UNNAMED] and not _was_watched(candidate):
        return Finding(CANNOT_TELL, found[0].evidence, found[0].remedy)
    return from_checks(found, "Nothing else was seen to take their time.", candidate.weighed.launches)


def _was_watched(candidate: Candidate) -> bool:
    """Were processes looked at on a host whose CPUs others used? Elsewhere they may be ranks of ours."""
    return any(
        watch.host == group.host
        for file in candidate.weighed.measured.files
        for group in unnamed(file)
        for watch in file.watches
    )
