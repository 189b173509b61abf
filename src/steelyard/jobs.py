"""The launches of a campaign: which engines take part, what one launch can measure, and in which order."""

from __future__ import annotations

import random
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from steelyard.engine import Engine, describe, mpi_engine, solo_engine
from steelyard.errors import InputError
from steelyard.machine import Machine
from steelyard.mpi import choose_mpi
from steelyard.observations import CampaignFile, Placement, PlannedPoint
from steelyard.openmp import check_thread_limit, places_cpus
from steelyard.placement import check_cpus
from steelyard.plan import Plan
from steelyard.resolve import Ops, clock_lacks, needs_mpi, ops_of

_INNER = "inner"  # parameter of ops: how many threads each of theirs makes


class Setup(Struct, frozen=True):
    """What jobs need besides the plan: engines by MPI name (None: solo), what they can do, the machine."""

    engines: dict[str | None, Engine]
    ops: Ops
    machine: Machine


class Group(Struct, frozen=True):
    """Points that one launch can measure: all that a launch has but one of is the same."""

    mpi: str | None
    ranks: int
    threads: int
    thread_level: str | None
    omp: tuple[tuple[str, str], ...]
    placement: Placement | None
    points: tuple[PlannedPoint, ...]


class PlannedJob(Struct, frozen=True):
    """One launch to come: its points in the order in which it measures them."""

    launch: int
    name: str
    group: Group
    points: tuple[PlannedPoint, ...]


def setup_for(plan: Plan, machine: Machine) -> Setup:
    """The engines that a plan needs, and what they can do.

    Raises InputError for an MPI, a clock or a synchronisation that there is not.
    """
    solo = solo_engine()
    engines: dict[str | None, Engine] = {None: solo}
    solo_description = describe(solo)
    not_in_solo = clock_lacks(plan, solo_description)
    syncs = [row["name"] for row in solo_description["sync_algorithms"]]
    if plan.sync is not None and plan.sync not in syncs:
        raise InputError(f"there is no synchronisation '{plan.sync}'; give one of {', '.join(syncs)}")
    descriptions = []
    if plan.mpi or not_in_solo or needs_mpi(plan, solo_description):
        for choice in plan.mpi or (None,):
            mpi = choose_mpi(choice)
            if (known := engines.get(mpi.name)) is not None and known.mpi != mpi:  # two builds of one version
                where = mpi.prefix or Path(mpi.mpiexec).parent
                mpi = msgspec.structs.replace(mpi, name=f"{mpi.name}@{where}")
            engines[mpi.name] = mpi_engine(mpi)
            descriptions.append(describe(engines[mpi.name]))
            if why := clock_lacks(plan, descriptions[-1]):
                raise InputError(why)
    ops = ops_of(solo_description, descriptions[0] if descriptions else None)
    return Setup(engines, msgspec.structs.replace(ops, solo={}) if not_in_solo else ops, machine)


def groups_of(points: Sequence[PlannedPoint]) -> tuple[Group, ...]:
    """The points by what a launch shares, in the order of the plan."""
    groups: dict[Group, list[PlannedPoint]] = {}
    for point in points:
        omp = tuple(sorted(point.omp.items()))
        key = Group(point.mpi, point.ranks, point.threads, point.thread_level, omp, point.placement, ())
        groups.setdefault(key, []).append(point)
    return tuple(msgspec.structs.replace(key, points=tuple(group)) for key, group in groups.items())


def check_openmp(group: Group, ops: Ops, machine: Machine, environ: Mapping[str, str]) -> None:
    """Raises InputError where OpenMP would leave out places or threads, and say so where nobody reads it.

    That is places on CPUs that are not there or that we may not use, or beside a placement, and nested
    regions of more threads than the environment allows.
    """
    settings = dict(group.omp)
    word = f"places={settings.get('places')}"
    if "places" in settings and group.placement is not None:
        raise InputError(
            f"the OpenMP setting {word} and the placement {group.placement.text} both say where threads are; "
            "leave one of them out"
        )
    cpus = places_cpus(settings)
    check_cpus(cpus, machine.cpus, machine.online, word, "the OpenMP setting")
    for point in group.points:
        usual = {row["name"]: row["default"] for row in ops.all[point.op]["params"]}
        if _INNER in usual:
            inner = int(point.params.get(_INNER, usual[_INNER]))
            words = f"the {point.threads} x {inner} threads of {point.op}"
            check_thread_limit(environ, point.threads * inner, words)


def job_name(launch: int, group: Group) -> str:
    """`l03-openmpi-4.1.4-n2-t4`, `l03-solo-n1-t2-on-0-1`: the name of a job and of its file."""
    engine = re.sub(r"[^A-Za-z0-9.+-]+", "_", group.mpi or "solo")
    threads = f"-t{group.threads}" if group.threads > 1 else ""
    level = f"-{group.thread_level}" if group.thread_level else ""
    omp = "".join(f"-{re.sub(r'[^A-Za-z0-9,]', '_', f'{name}={value}')}" for name, value in group.omp)
    place = f"-{group.placement.name}" if group.placement else ""
    return f"l{launch:02d}-{engine}-n{group.ranks}{threads}{level}{omp}{place}"


def plan_jobs(campaign: CampaignFile, launches: int, done: Container[tuple[str, int]]) -> list[PlannedJob]:
    """What is still to be measured: launch after launch, jobs and their points shuffled within it."""
    jobs = []
    for launch in range(1, launches + 1):
        groups = list(groups_of(campaign.points))
        random.Random(f"{campaign.seed} {launch}").shuffle(groups)
        for group in groups:
            name = job_name(launch, group)
            points = [point for point in group.points if (name, point.point) not in done]
            random.Random(f"{campaign.seed} {name}").shuffle(points)
            if points:
                jobs.append(PlannedJob(launch, name, group, tuple(points)))
    return jobs
