"""Where the threads of ranks were at the end of each point, and where they should have been.

Pools of pthreads and teams of OpenMP are recorded alike: each thread asks the kernel where it may run, and
knows the CPU that it was bound to, if any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from steelyard.base.cpulist import cpu_set
from steelyard.records.job_file import JobFile


class Lane(NamedTuple):
    """A thread of a rank at the end of a point; `meant` is empty if it was not bound."""

    point: int
    rank: int
    thread: int
    seen: str
    meant: str


def lanes_of(file: JobFile) -> Iterator[Lane]:
    """List the threads at all points of a launch whose ranks had several threads."""
    for state in file.states:
        for at, (seen, meant) in enumerate(zip(state.lanes, state.lanes_meant, strict=True)):
            for thread, (cpus, wanted) in enumerate(zip(seen, meant, strict=True)):
                yield Lane(state.point or 0, state.rank(at), thread, cpus, wanted)


def seen_lanes(file: JobFile, rank: int) -> list[tuple[str, ...]]:
    """Find where the threads of a rank were, for each team that was elsewhere than those before it."""
    teams = (lanes for state in file.states for at, lanes in enumerate(state.lanes) if state.rank(at) == rank)
    return list(dict.fromkeys(lanes for lanes in teams if lanes))


def stray_lanes(file: JobFile) -> Iterator[str]:
    """Find threads with a CPU by placement that were bound to another one, or free on those of their rank."""
    job = file.job
    for lane in lanes_of(file):
        asked = job.cpus[lane.rank * job.threads : (lane.rank + 1) * job.threads]
        if lane.thread >= len(asked):
            continue
        cpu = asked[lane.thread]
        is_there = cpu_set(lane.meant) == {cpu} if lane.meant else cpu_set(lane.seen) <= set(asked)
        if not is_there:
            allowed = lane.meant or lane.seen
            yield f"thread {lane.thread} of rank {lane.rank} was asked for CPU {cpu}, was allowed {allowed}"


def moved_lanes(file: JobFile, names: Mapping[int, str]) -> Iterator[str]:
    """Find threads that were bound and, at the end of a point of `names`, were elsewhere."""
    for lane in lanes_of(file):
        if lane.point in names and lane.meant and lane.seen and lane.seen != lane.meant:
            told = f"was bound to {lane.meant} and moved to {lane.seen}"
            when = f"while {names[lane.point]} was measured"
            yield f"thread {lane.thread} of rank {lane.rank} of launch {file.job.launch} {told} {when}"


def sharing_lanes(file: JobFile, names: Mapping[int, str]) -> Iterator[str]:
    """Find threads of one rank that were bound to one CPU at a point of `names`."""
    owner: dict[tuple[int, int, str], int] = {}
    for lane in lanes_of(file):
        if lane.point in names and len(cpu_set(lane.seen)) == 1:
            other = owner.setdefault((lane.point, lane.rank, lane.seen), lane.thread)
            if other != lane.thread:
                who = f"threads {other} and {lane.thread} of rank {lane.rank}"
                when = f"while {names[lane.point]} was measured"
                yield f"{who} shared CPU {lane.seen} {when}"
