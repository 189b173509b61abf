"""Checks of what the system gave to launches: shared memory, CPU time, timers; and how messages then went."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from steelyard.base.diagnostic import NOTE, WARNING, check
from steelyard.base.limits import COARSE_TIMER_NS, little_shm
from steelyard.base.plural import counted
from steelyard.diagnostics.results.evidence import Evidence, listed, mpi_name
from steelyard.records.kinds import FAULT, INSTRUMENT, MPI, NOISE, WORK
from steelyard.results.load import PointLaunch
from steelyard.results.roofs import on_one_host
from steelyard.results.row import Row
from steelyard.results.transport import asked_transport, has_sockets_alone
from steelyard.results.variables import not_taken, of_others

# Options after which answers differ, code is not optimised, or is watched.
_CHANGES_CODE = re.compile(
    r"-O(0|1|g|fast)|-ffast-math|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math"
    r"|-ffinite-math-only|-fsanitize=.*|-pg|--coverage|-fprofile.*|-ftest-coverage|-finstrument-functions"
)
_SENDS_NOTHING = (FAULT, INSTRUMENT, NOISE, WORK)


@check(
    "shared-memory",
    WARNING,
    "There was little shared memory",
    why="An MPI library that finds too little fails, by SIGBUS too, or sends by sockets.",
    remedy="Enlarge it (mount -o remount,size=1G /dev/shm; docker run --shm-size=1G), and measure again.",
)
def shared_memory(evidence: Evidence) -> str | None:
    """Find test cases of MPI that began with less than libraries map for so many ranks."""

    def told(cell: PointLaunch) -> str | None:
        there = cell.job.settings.get("shm_bytes")
        return None if there is None else little_shm(there, _ranks_here(cell, evidence))

    return _told_of(evidence, told, _sends_by_mpi)


@check(
    "sockets",
    WARNING,
    "Messages within a host went through sockets",
    why="A message through the kernel takes 10 to 40 times as long as one through memory.",
    remedy="Give /dev/shm more room, and look into openmpi-mca-params.conf for a line with btl. To measure "
    "sockets, say so: --env OMPI_MCA_btl=tcp,self.",
    caused_by=("shared-memory",),
)
def sockets(evidence: Evidence) -> str | None:
    """Find test cases on one host whose Open MPI did not load its shared memory, and was not told so."""

    def told(cell: PointLaunch) -> str | None:
        start = cell.start
        if start is None or asked_transport(start.environment) or not has_sockets_alone(start):
            return None
        return "the library loaded its component for TCP and none for shared memory"

    return _told_of(evidence, told, lambda row: _sends_by_mpi(row) and on_one_host(row))


@check(
    "quota",
    WARNING,
    "The limit on CPU time is below what ranks use",
    why="Ranks that spin use the limit up, and the kernel stops them for the rest of a period, some 0.1 s.",
    remedy="Ask for fewer ranks or threads than the limit allows, or have it raised.",
)
def quota(evidence: Evidence) -> str | None:
    """Find launches on this host whose control group allows less CPU time than their threads use."""

    def told(cell: PointLaunch) -> str | None:
        allowed = _number(cell, "cpu_quota")
        if allowed is None or allowed >= (lanes := _ranks_here(cell, evidence) * cell.job.threads):
            return None
        what = "thread" if cell.job.threads > 1 else "rank"
        return f"the control group allows the time of {allowed:g} CPUs, for {counted(lanes, what)}"

    return _told_of(evidence, told)


@check(
    "variables",
    WARNING,
    "Variables of the environment do not hold",
    why="What was measured is the library's own choice, not what was asked for.",
    remedy="Correct or unset them, and measure again. 'ompi_info --all' lists what Open MPI knows, mpivars "
    "what MPICH knows.",
)
def variables(evidence: Evidence) -> str | None:
    """Find variables that MPI, OpenMP or a layer below them rejected or does not know."""
    found: dict[tuple[str, str], list[str]] = {}
    for file in evidence.measured.files:
        for given, said in not_taken(file):
            names = found.setdefault((mpi_name(file.job), said), [])
            names += [given] if given not in names else []
    told = [f"{' and '.join(names)} for {mpi}: {said.rstrip('.')}" for (mpi, said), names in found.items()]
    return f"{'; '.join(told)}." if told else None


@check(
    "others-variables",
    NOTE,
    "Variables of MPIs that were not measured",
    why="They change nothing here. Whoever meant this MPI has set another library's variable.",
    remedy="Set the variable that this library has for it, or leave them.",
)
def others_variables(evidence: Evidence) -> str | None:
    """Find variables of the environment that only other MPIs read."""
    names: dict[str, list[str]] = {}
    for name, readers in of_others(evidence.measured.files).items():
        names.setdefault(readers, []).append(name)
    told = [f"{' and '.join(own)} of {readers}" for readers, own in names.items()]
    return f"{'; '.join(told)}." if told else None


@check(
    "compiled",
    WARNING,
    "The engine was compiled with other options than usual",
    why="Such options change answers or leave out optimisation: kernels and checks take other times.",
    remedy="Take them out of the MPI's compiler wrapper (mpicc -show), or unset OMPI_CFLAGS, MPICH_CFLAGS.",
)
def compiled(evidence: Evidence) -> str | None:
    """Find engines to whose code a compiler wrapper added options that change values or its speed."""
    found: dict[tuple[str, str], None] = {}
    for file in evidence.measured.files:
        added = str(file.launch.build.get("added", "")).split() if file.launch else []
        for word in filter(_CHANGES_CODE.fullmatch, added):
            found[mpi_name(file.job), word] = None
    told = [f"the compiler wrapper of {mpi} adds {word}" for mpi, word in found]
    return f"T{'; '.join(told)[1:]}." if told else None


@check(
    "coarse-timers",
    WARNING,
    "Timers are coarse",
    why="What sleeps wakes up late, and so do MPIs that wait by sleeping.",
    remedy="Boot with highres=on.",
)
def coarse_timers(evidence: Evidence) -> str | None:
    """Find launches under a kernel without high-resolution timers."""

    def told(cell: PointLaunch) -> str | None:
        step = _number(cell, "timer_resolution_ns")
        return f"steps of {step / 1e6:g} ms" if step is not None and step > COARSE_TIMER_NS else None

    return _told_of(evidence, told)


def _told_of(
    evidence: Evidence,
    told: Callable[[PointLaunch], str | None],
    of: Callable[[Row], bool] = lambda _: True,
) -> str | None:
    """List the rows with a launch of which something is told, each with what is told first."""
    found: dict[int, str] = {}
    for row, point in zip(evidence.rows, evidence.measured.points, strict=True):
        if of(row) and (words := next(filter(None, map(told, point.cells)), None)):
            found[row.point] = words
    return listed((row for row in evidence.rows if row.point in found), lambda row: found[row.point])


def _sends_by_mpi(row: Row) -> bool:
    """Do its ranks send messages, and not by a layer below MPI?"""
    return (
        row.mpi is not None and row.ranks > 1 and row.layer in (None, MPI) and row.role not in _SENDS_NOTHING
    )


def _ranks_here(cell: PointLaunch, evidence: Evidence) -> int:
    """Count the ranks of a launch on the host of the campaign, whose settings its job has."""
    here = str(evidence.measured.campaign.machine.get("host"))
    places = cell.start.places if cell.start else ()
    if len(places) == cell.job.ranks:
        return sum(place.host == here for place in places)
    hosts = {place.host for place in places} or set(cell.job.hosts)
    return cell.job.ranks // len(hosts) if here in hosts else 0 if hosts else cell.job.ranks


def _number(cell: PointLaunch, name: str) -> float | None:
    value: Any = cell.job.settings.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
