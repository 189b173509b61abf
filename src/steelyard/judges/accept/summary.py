"""The head of an acceptance: why it says what it says, of which machine, from how much, and how to go on."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from steelyard.base.plural import counted, joined
from steelyard.base.printable import visible
from steelyard.base.units import format_memory
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Topic
from steelyard.judges.accept.measurement import Weighed
from steelyard.records.failure_kinds import is_slow_start
from steelyard.results.row import Row
from steelyard.stats.peer_outliers import LEAST_LAUNCHES

_MOST_NAMED = 3  # faults, or hosts, in a sentence


def why_words(verdict: str, topics: Sequence[Topic], weighed: Weighed) -> str:
    """Say in one sentence why a machine is well, is not, or cannot be told."""
    if verdict == WELL:
        left = f", with {left_words(weighed)} left" if weighed.unfinished else ""
        return f"no fault was found in {counted(len(topics), 'topic')}{left}"
    own = sorted((topic for topic in topics if topic.verdict == verdict), key=_is_usual)
    more = f"; and {counted(len(own) - _MOST_NAMED, 'topic')} more" if len(own) > _MOST_NAMED else ""
    if verdict == NOT_WELL:
        return f"{'; '.join(one.brief for one in own[:_MOST_NAMED])}{more}"
    names = joined(one.topic for one in own)
    if hung := never_began_words(weighed.rows):
        return f"no fault was found, but {hung}; too little was measured for {names}"
    if weighed.unfinished:
        return f"no fault was found, but with {left_words(weighed)} left too little was measured for {names}"
    first = "; ".join(f"{one.topic}: {one.brief}" for one in own[:_MOST_NAMED])
    return (
        f"no fault was found, but {len(own)} of {counted(len(topics), 'topic')} cannot be told: {first}{more}"
    )


def left_words(weighed: Weighed) -> str:
    """`231 of 420 measurements`: those of the plan that have not ended."""
    return f"{weighed.unfinished} of {counted(weighed.planned * len(weighed.measured.points), 'measurement')}"


def _is_usual(topic: Topic) -> bool:
    """Is it judged without being asked for? A reference, which the reader gave, comes first."""
    return topic.topic != "reference"


def never_began_words(rows: Iterable[Row]) -> str:
    """`26 of 34 runs never began (mpiexec had not begun to measure after 60s): MPI_Init or its launcher
    hangs, or the machine is too busy`; nothing where all began.
    """
    runs = [launch for row in rows for launch in row.launches if launch.status in ("ok", "failed")]
    reasons = [launch.why for launch in runs if launch.why and is_slow_start(launch.why)]
    if not reasons:
        return ""
    why = reasons[0].removeprefix("hang: ").partition(",")[0]
    return (
        f"{len(reasons)} of {counted(len(runs), 'run')} never began ({why}): MPI_Init or its launcher hangs, "
        "or the machine is too busy"
    )


def machine_words(weighed: Weighed) -> str:
    """Name the machine for somebody who does not know it: `node7: 64 cores of AMD EPYC 7763, 256 GiB, Linux
    6.1.0; openmpi-4.1.4`.
    """
    machine = weighed.measured.campaign.machine
    files = weighed.measured.files
    hosts = sorted({place.host for file in files if file.launch for place in file.launch.places})
    more = f" and {len(hosts) - _MOST_NAMED} more" if len(hosts) > _MOST_NAMED else ""
    where = f"{', '.join(hosts[:_MOST_NAMED])}{more}" or str(machine.get("host") or "")
    each = "each with " if len(hosts) > 1 else ""
    mpis = joined(sorted({file.job.mpi.name for file in files if file.job.mpi}))
    facts = [_cores(machine), _memory(machine), _named("Linux", machine.get("kernel")), mpis]
    said = ", ".join(fact for fact in facts if fact)
    return visible(": ".join(part for part in (where, f"{each}{said}" if said else "") if part))


def _cores(machine: dict[str, Any]) -> str:
    count, model = len(machine.get("cores") or ()), machine.get("cpu_model")
    if not count:
        return str(model or "")
    return f"{counted(count, 'core')} of {model}" if model else counted(count, "core")


def _memory(machine: dict[str, Any]) -> str:
    count = machine.get("memory_bytes")
    return format_memory(count) if isinstance(count, int) and count > 0 else ""


def _named(name: str, value: object) -> str:
    return f"{name} {value}" if value else ""


def measured_words(weighed: Weighed) -> str:
    """Say how much was measured, and when: `2 of 10 launches, 2026-11-25; 136 of 170 measurements are left:
    ...`.
    """
    began = [file.launch.start_unix_ns for file in weighed.measured.files if file.launch]
    days = [_day(at) for at in (min(began, default=0), max(began, default=0)) if at > 0]
    when = " to ".join(dict.fromkeys(days))
    seen, planned = weighed.launches, weighed.planned
    launches = f"{seen} of {counted(planned, 'launch')}" if planned > seen else counted(seen, "launch")
    text = f"{launches}, {when}" if when else launches
    if weighed.unfinished:
        why = "the run was stopped"
        if weighed.measured.campaign.plan.get("time_budget"):
            why = "the time budget was over, or the run was stopped"
        text += f"; {left_words(weighed)} {'is' if weighed.unfinished == 1 else 'are'} left: {why}"
    if 0 < planned < LEAST_LAUNCHES:
        text += f"; faults show in {LEAST_LAUNCHES} launches or more"
    return text


def _day(at_ns: int) -> str:
    try:
        return f"{datetime.datetime.fromtimestamp(at_ns / 1e9, datetime.UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):
        return ""
