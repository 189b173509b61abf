"""Variables that were given to MPI and OpenMP, and that the library did not take as they were given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from steelyard.base.mpi_variables import is_read, readers
from steelyard.records.job_file import JobFile
from steelyard.records.schema import Launch

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}  # after a number, as powers of two
_NUMBER = re.compile(r"([-+]?(?:0x[0-9a-f]+|\d+(?:\.\d*)?))([kmg]?)b?")
_YES, _NO = {"true", "yes", "on", "enabled", "t", "y"}, {"false", "no", "off", "disabled", "f", "n"}
# Frameworks of Open MPI's launcher. From version 5 on it is another library, and ranks do not know these.
_OF_LAUNCHER = re.compile(
    r"OMPI_MCA_(ess|errmgr|filem|grpcomm|iof|odls|oob|orte|plm|pmix|prte|ras|rmaps|rml|routed|rtc|schizo|state)_"
)
_OF_PMIX = ("PMIX_MCA_", "PRTE_MCA_")  # libraries that start other MPIs, too
_OWN_LAUNCHER = "Open MPI v5"
# Chapter 4 of OpenMP 6.0, and what earlier versions had; for devices, too: OMP_STACKSIZE_DEV_1.
_OPENMP = re.compile(
    r"OMP_(AFFINITY_FORMAT|ALLOCATOR|AVAILABLE_DEVICES|CANCELLATION|DEBUG|DEFAULT_DEVICE|DISPLAY_AFFINITY"
    r"|DISPLAY_ENV|DYNAMIC|MAX_ACTIVE_LEVELS|MAX_TASK_PRIORITY|NESTED|NUM_TEAMS|NUM_THREADS|PLACES|PROC_BIND"
    r"|SCHEDULE|STACKSIZE|TARGET_OFFLOAD|TEAMS_THREAD_LIMIT|THREAD_LIMIT|THREADS_RESERVE|TOOL"
    r"|TOOL_LIBRARIES|TOOL_VERBOSE_INIT|WAIT_POLICY)(_ALL|_DEV(_\d+)?)?"
)


def not_taken(file: JobFile) -> Iterator[tuple[str, str]]:
    """List the variables that a launch rejected or does not know: `OMP_WAIT_POLICY=x`, and what was said."""
    told = {
        name: "OpenMP has no variable of this name"
        for name in file.job.given
        if name.startswith("OMP_") and not _OPENMP.fullmatch(name)
    }
    if file.launch is not None:
        told |= _by_library(file.launch)
    for watch in file.watches:
        told |= watch.complaints
    environment = file.launch.environment if file.launch else {}
    for name in file.job.given:
        if name in told:
            yield f"{name}={environment[name]}" if name in environment else name, told[name]


def refused(given: Collection[str], launch: Launch | None) -> tuple[str, ...]:
    """Name the given variables that the library does not know, or has another value for."""
    said = _by_library(launch) if launch else {}
    return tuple(name for name in given if name in said)


def of_others(files: Sequence[JobFile]) -> dict[str, str]:
    """Find the variables that none of the measured MPIs reads: each with the names of those that do. Without
    MPI none is missed.
    """
    families = {file.job.mpi.family for file in files if file.job.mpi}
    names = dict.fromkeys(name for file in files for name in file.job.given if families)
    return {
        name: readers(name)
        for name in names
        if not name.startswith(_OF_PMIX) and not any(is_read(name, family) for family in families)
    }


def _by_library(launch: Launch) -> dict[str, str]:
    """Find the variables for which the MPI library has another value, or none."""
    if launch.mpi is None:
        return {}
    has_own = launch.mpi.library.startswith(_OWN_LAUNCHER)
    told = {
        name: "the library has no variable of this name, or did not load what has it"
        for name in launch.mpi.unknown
        if not (has_own and _OF_LAUNCHER.match(name))
    }
    for name, has in launch.mpi.given.items():
        if not _is_taken(launch.environment.get(name, ""), has):
            told[name] = f"the library has {has} in its place"
    return told


def _is_taken(given: str, has: float | str) -> bool:
    """May a library have made this value from that text? Texts are not compared: it may have other words."""
    if isinstance(has, str):
        return True
    word = given.strip().lower()
    if word in _YES or word in _NO:
        return has == (word in _YES)
    number = _NUMBER.fullmatch(word)
    if number is None:
        return not word
    value = int(number[1], 16) if "0x" in word else float(number[1])
    return bool(value * (1 << _UNITS[number[2]]) == has)
