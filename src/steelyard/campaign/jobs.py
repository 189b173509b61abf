"""The launches of a campaign: engines, what each launch can measure, and their order."""

from __future__ import annotations

import itertools
import os
import random
import re
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steelyard.base.engine_kinds import SHMEM
from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.heartbeat import Tell
from steelyard.base.secret import masked
from steelyard.base.units import format_bytes, format_memory
from steelyard.engines.build import Engine, describe, given_engine, mpi_engine, ready_mpi_engine, solo_engine
from steelyard.engines.description import Description, Ops, load_words, ops_of
from steelyard.engines.mpi import Mpi, choose_mpi, find_mpis, named_by_place
from steelyard.engines.shmem import choose_shmem, find_shmems
from steelyard.launch.batch_systems import read_allocation
from steelyard.launch.command import plan_launch
from steelyard.launch.launcher_choice import check_launcher
from steelyard.launch.request import LaunchRequest
from steelyard.plan.arms import USUAL, with_arms
from steelyard.plan.engine_needed import clock_lacks, needs_mpi, needs_shmem
from steelyard.plan.own_ops import check_loaded, libraries_of
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint
from steelyard.system.allocation import Allocation
from steelyard.system.machine import Machine
from steelyard.system.openmp import check_thread_limit, places_cpus
from steelyard.system.topology import check_cpus

_LONGEST = 40  # letters of an arm or a variable in the name of a job
_LONGEST_MPI = 120  # letters of an MPI or an engine there, which may be a path: names of files end at 255
_LONGEST_REST = 100  # letters of all that distinguishes launches of one MPI, ranks and threads
MOST_MEASUREMENTS = 2_000_000  # a day, however short each is
FIRST_LAUNCHES = 5  # of points that come first: so many can tell which of several places is odd
_INNER = "inner"  # parameter of ops: how many threads each of their threads makes


class CampaignSetup(Struct, frozen=True):
    """What jobs need besides the plan: engines by MPI name (None: solo), their abilities, the machine."""

    engines: dict[str | None, Engine]
    ops: Ops
    machine: Machine
    lacks: Mapping[str | None, Mapping[str, str]] = {}  # by MPI: what it cannot do, and why not
    allocation: Allocation | None = None  # of a batch system around this process
    is_built: bool = True  # false: an engine is known by another one, and cannot be started


class LaunchGroup(Struct, frozen=True):
    """Points that one launch can measure: they share all that a launch has only once."""

    mpi: str | None
    ranks: int
    threads: int
    thread_level: str | None
    omp: tuple[tuple[str, str], ...]
    placement: Placement | None
    points: tuple[PlannedPoint, ...]
    env: tuple[tuple[str, str], ...] = ()
    arm: str | None = None
    hosts: int | None = None
    opens: int | None = None  # the point that is timed before all else; it is the only one

    def request(self, plan: Plan, setup: CampaignSetup) -> LaunchRequest:
        """Make the request for a launch of these points."""
        return LaunchRequest(
            ranks=self.ranks,
            threads=self.threads,
            placement=self.placement,
            omp=dict(self.omp),
            env=dict(self.env),
            oversubscribe=plan.oversubscribe,
            yield_mode=plan.yield_,
            hosts=self.hosts,
            launcher=plan.launcher,
            loses=self.loses(setup),
        )

    def loses(self, setup: CampaignSetup) -> int:
        """Count the ranks that a launch of these points starts besides, and that die in it."""
        lacks = setup.lacks.get(self.mpi, {})
        return max(
            (setup.ops.all[point.op].loses for point in self.points if point.op not in lacks), default=0
        )

    def loads(self, ops: Ops) -> tuple[str, ...]:
        """Make the words by which a launch of these points loads the libraries of its ops."""
        found = (ops.all[point.op].library for point in self.points)
        return load_words(tuple(dict.fromkeys(filter(None, found))))


class PlannedJob(Struct, frozen=True):
    """One launch to come: its points in the order in which it measures them."""

    launch: int
    name: str
    group: LaunchGroup
    points: tuple[PlannedPoint, ...]


def setup_for(
    plan: Plan, machine: Machine, tell: Tell = lambda _: None, *, builds: bool = True
) -> CampaignSetup:
    """Choose and build the engines that a plan needs; `tell` hears of those that are built.

    Without `builds` an engine for another MPI that is there stands for one that is not: what a plan may ask
    for is the same. Only if there is none, one is built.

    Raises InputError for an unknown MPI, launcher, clock or synchronisation.
    """
    if plan.launcher is not None:
        check_launcher(plan.launcher)
    plan = with_arms(plan)
    solo = solo_engine(tell)
    engines: dict[str | None, Engine] = {None: solo}
    libraries = libraries_of(plan)
    solo_description = describe(solo, libraries=libraries)
    not_in_solo = clock_lacks(plan, solo_description)
    _check_sync(plan, solo_description)
    descriptions, is_built = list[Description](), True
    lacks: dict[str | None, dict[str, str]] = {None: _lacks(solo_description)}

    def add(library: Mpi) -> Description:
        nonlocal is_built
        engine, said, is_itself = _engine_for(library, engines, libraries, tell, builds=builds)
        is_built = is_built and is_itself
        check_loaded(said)
        if why := clock_lacks(plan, said):
            raise InputError(why)
        assert engine.mpi is not None
        engines[engine.mpi.name], lacks[engine.mpi.name] = engine, _lacks(said)
        return said

    if plan.mpi or not_in_solo or needs_mpi(plan, solo_description, len(machine.cores)):
        chosen = _choose_mpis(plan.mpi or (None,), tell)
        for mpi, path in itertools.product(chosen, plan.arms.get("engine", (USUAL,))):
            if path != USUAL:
                engine = given_engine(Path(str(path)), mpi)
                engines[f"{mpi.name}+{engine.path}"] = engine
                descriptions.append(describe(engine, libraries=libraries))
                check_loaded(descriptions[-1])
                lacks[f"{mpi.name}+{engine.path}"] = _lacks(descriptions[-1])
                continue
            descriptions.append(add(mpi))
    shmems = [
        add(choose_shmem(choice))
        for choice in ((plan.shmem or (None,)) if plan.shmem or needs_shmem(plan) else ())
    ]
    ops = ops_of(solo_description, next(iter(descriptions), None), next(iter(shmems), None))
    ops = msgspec.structs.replace(ops, solo={}) if not_in_solo else ops
    return CampaignSetup(engines, ops, machine, lacks, read_allocation(), is_built)


def _check_sync(plan: Plan, solo: Description) -> None:
    """Raise InputError for an unknown synchronisation of clocks."""
    known = [row.name for row in solo.sync_algorithms]
    if plan.sync is not None and plan.sync not in known:
        raise InputError(f"there is no synchronisation '{plan.sync}'; give one of {', '.join(known)}")


def _choose_mpis(choices: Sequence[str | None], tell: Tell) -> list[Mpi]:
    """Choose MPIs; builds of one version that are given by their places are named by them."""
    mpis = [choose_mpi(choice, tell) for choice in choices]
    shared = {mpi.name for mpi in mpis for other in mpis if mpi.name == other.name and mpi != other}
    return [named_by_place(mpi) if mpi.origin == "given" and mpi.name in shared else mpi for mpi in mpis]


def _engine_for(
    library: Mpi,
    engines: Mapping[str | None, Engine],
    libraries: tuple[str, ...],
    tell: Tell,
    *,
    builds: bool,
) -> tuple[Engine, Description, bool]:
    """Choose the engine of an MPI or an OpenSHMEM; is it that library's own, and none that stands for it?

    Two of one name are named apart.
    """
    if (known := engines.get(library.name)) is not None and known.mpi != library:
        library = named_by_place(library)
    is_itself = builds or libraries or ready_mpi_engine(library)  # a library of ops fits one MPI alone
    if not is_itself and (stand_in := _stand_in(library)) is not None:
        return *stand_in, False
    engine = mpi_engine(library, tell)
    return engine, describe(engine, libraries=libraries), True


def _stand_in(mpi: Mpi) -> tuple[Engine, Description] | None:
    """Describe the engine of a library by one for another of its kind that is there; None if there is none.

    What this library lacks is not known before its own engine is there.
    """
    for other in find_shmems() if mpi.kind == SHMEM else find_mpis():
        engine = ready_mpi_engine(other)
        if engine is None:
            continue
        with suppress(MeasurementError):
            said = describe(engine)
            ops = tuple(msgspec.structs.replace(op, available=True, why_not=None) for op in said.ops)
            return Engine(engine.path, engine.kind, mpi), msgspec.structs.replace(said, ops=ops)
    return None


def _lacks(description: Description) -> dict[str, str]:
    return {op.name: op.why_not or "" for op in description.ops if not op.available}


def groups_of(points: Sequence[PlannedPoint]) -> tuple[LaunchGroup, ...]:
    """Group the points by what a launch shares, in the order of the plan."""
    groups: dict[tuple[Any, ...], list[PlannedPoint]] = {}
    for point in points:
        omp, env = tuple(sorted(point.omp.items())), tuple(sorted(point.env.items()))
        opens = point.point if point.opens else None
        axes = (point.mpi, point.ranks, point.threads, point.thread_level, omp, point.placement)
        groups.setdefault((*axes, env, point.arm, point.hosts, opens), []).append(point)
    return tuple(
        LaunchGroup(mpi, ranks, threads, level, omp, place, tuple(group), env, arm, hosts, opens)
        for (mpi, ranks, threads, level, omp, place, env, arm, hosts, opens), group in groups.items()
    )


def alike(group: LaunchGroup) -> LaunchGroup:
    """Key of launches that start in the same way: the group without its points."""
    return msgspec.structs.replace(group, points=())


def check_openmp(group: LaunchGroup, ops: Ops, machine: Machine, environ: Mapping[str, str]) -> None:
    """Raise InputError if OpenMP would ignore places or threads, and report it only on an output that nobody
    reads.

    These are places on CPUs that do not exist or are not allowed, or beside a placement, and nested regions
    of more threads than the environment allows.
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
        usual = {row.name: row.default for row in ops.all[point.op].params}
        if _INNER in usual:
            inner = int(point.params.get(_INNER, usual[_INNER]))
            words = f"the {point.threads} x {inner} threads of {point.op}"
            check_thread_limit(environ, point.threads * inner, words)


def check_launches(plan: Plan, points: Sequence[PlannedPoint], setup: CampaignSetup) -> None:
    """Plan each launch of a campaign. Raises InputError for one that is impossible, or that shares cores."""
    if (number := plan.most_launches * len(points)) > MOST_MEASUREMENTS:
        raise InputError(
            f"{plan.most_launches} launches of {len(points)} test cases are {number} measurements, and a "
            f"campaign has at most {MOST_MEASUREMENTS}; give fewer --launches, or divide the plan"
        )
    _check_memory(points, setup.machine)
    _check_available(points, setup)
    for group in groups_of(points):
        check_openmp(group, setup.ops, setup.machine, os.environ)
        engine = setup.engines[group.mpi]
        plan_launch(engine, setup.machine, group.request(plan, setup), allocation=setup.allocation)


def _check_memory(points: Sequence[PlannedPoint], machine: Machine) -> None:
    """Raise InputError for a size that exceeds the memory; the engine checks what all ranks need together."""
    most = max((point.bytes for point in points), default=0)
    if 0 < machine.memory_bytes < most:
        op = next(point.op for point in points if point.bytes == most)
        raise InputError(
            f"{op} of {format_bytes(most)} needs more than this machine's memory of "
            f"{format_memory(machine.memory_bytes)}; give smaller sizes with --bytes"
        )


def _check_available(points: Sequence[PlannedPoint], setup: CampaignSetup) -> None:
    """Raise InputError if no point can be measured with any MPI that takes part."""
    why = {(point.op, point.mpi): setup.lacks.get(point.mpi, {}).get(point.op) for point in points}
    if why and all(why.values()):
        (op, mpi), reason = next(iter(why.items()))
        others = f", nor can the other {len(why) - 1} be" if len(why) > 1 else ""
        raise InputError(
            f"{op} cannot be measured with {mpi or 'the engine without MPI'}: {reason}{others}; "
            "'steelyard mpi list' names other MPIs, for --mpi"
        )


def job_name(launch: int, group: LaunchGroup) -> str:
    """Name a job and its file: `l03-openmpi-4.1.4-n2-t4`, `l03-solo-n1-t2-on-0-1`."""
    engine = re.sub(r"[^A-Za-z0-9.+-]+", "_", group.mpi or "solo")
    if len(engine) > _LONGEST_MPI:
        engine = f"{engine[:_LONGEST]}-{zlib.crc32((group.mpi or '').encode()):08x}"
    threads = f"-t{group.threads}" if group.threads > 1 else ""
    level = f"-{group.thread_level}" if group.thread_level else ""
    omp = "".join(f"-{re.sub(r'[^A-Za-z0-9,]', '_', f'{name}={value}')}" for name, value in group.omp)
    place = f"-{group.placement.name}" if group.placement else ""
    env = "".join(f"-{_in_name(f'{name}={masked(name, value)}')}" for name, value in group.env)
    arm = f"-arm-{_in_name(group.arm)}" if group.arm is not None else ""
    hosts = f"-h{group.hosts}" if group.hosts else ""
    opens = f"-first-{group.opens}" if group.opens is not None else ""
    rest = f"{level}{omp}{place}{env}{arm}{opens}"
    if len(rest) > _LONGEST_REST:
        rest = f"-{zlib.crc32(rest.encode()):08x}"
    return f"l{launch:02d}-{engine}-n{group.ranks}{hosts}{threads}{rest}"


def _in_name(text: str) -> str:
    """Keep text that names of files may have; a checksum replaces it if it has other letters."""
    plain = re.sub(r"[^A-Za-z0-9.,+_]", "_", text)
    return plain if plain == text and len(text) <= _LONGEST else f"{zlib.crc32(text.encode()):08x}"


def _in_order(groups: Sequence[LaunchGroup], seed: int, launch: int) -> list[LaunchGroup]:
    """Order the groups of a launch: arms of the same test cases are neighbours, all else is shuffled."""
    if len(groups) < 2:
        return list(groups)  # a coin costs more than all else here
    arms = list(dict.fromkeys(group.arm for group in groups))
    random.Random(f"{seed} {launch} arms").shuffle(arms)
    neighbours: dict[tuple[object, ...], list[LaunchGroup]] = {}
    for number, group in enumerate(groups):
        cases = tuple(sorted((p.op, p.bytes, p.method, p.rule) for p in group.points))
        hosts = None if group.placement is not None and group.placement.hosts else group.hosts
        key = (
            (group.ranks, hosts, group.threads, group.thread_level, cases)
            if group.arm is not None
            else (number,)
        )
        neighbours.setdefault(key, []).append(group)
    families = list(neighbours.values())
    random.Random(f"{seed} {launch}").shuffle(families)
    return [group for family in families for group in sorted(family, key=lambda one: arms.index(one.arm))]


def plan_jobs(campaign: CampaignFile, launches: int, done: Container[tuple[str, int]]) -> list[PlannedJob]:
    """List what is left to measure: launch after launch, jobs and their points shuffled within it. The first
    launches are divided if some points come first.

    Arms follow each other directly. Chance chooses their order anew for each launch, the same for all their
    jobs; a comparison by swaps rests on this (Abedi and Brecht, ICPE 2017). Points to measure beside each
    other, such as the sides of a guideline, follow directly within a job.
    """
    jobs = []
    groups = groups_of(campaign.points)
    for turn, launch in _turns(campaign.points, launches):
        for group in _in_order(groups, campaign.seed, launch):
            name = job_name(launch, group)
            points = [point for point in group.points if point.first in turn]
            points = [point for point in points if (name, point.point) not in done]
            if len(points) > 1:
                points = _shuffled(points, random.Random(f"{campaign.seed} {name}"))
            if points:
                jobs.append(PlannedJob(launch, name, group, tuple(points)))
    return jobs


def _turns(points: Sequence[PlannedPoint], launches: int) -> Iterator[tuple[frozenset[bool], int]]:
    """List the launches in their order, each with the points whose turn it is: those that come first or not.

    `FIRST_LAUNCHES` launches of the points that come first, then as many of the others, then all of both. So
    a time budget leaves a few launches of what matters most, not one launch of everything.
    """
    kinds = sorted({point.first for point in points}, reverse=True)
    few = min(launches, FIRST_LAUNCHES) if len(kinds) > 1 else 0
    yield from ((frozenset((kind,)), launch) for kind in kinds for launch in range(1, few + 1))
    yield from ((frozenset(kinds), launch) for launch in range(few + 1, launches + 1))


def _shuffled(points: Sequence[PlannedPoint], coin: random.Random) -> list[PlannedPoint]:
    """Shuffle the points; those to measure beside each other stay together."""
    neighbours: dict[tuple[object, ...], list[PlannedPoint]] = {}
    for point in points:
        key = (point.point,) if point.beside is None else ("beside", point.beside, point.bytes)
        neighbours.setdefault(key, []).append(point)
    families = list(neighbours.values())
    coin.shuffle(families)
    for family in families:
        if len(family) > 1:
            coin.shuffle(family)
    return [point for family in families for point in family]
