"""Resolve a plan: the points of its measures, from the engines' descriptions.

Everything here is pure: a plan and descriptions go in, points come out.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from steelyard.base.engine_kinds import MPI, SHMEM, SOLO, engine_kind
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.product import MOST_LAUNCHES, check_test_cases, product_of
from steelyard.base.units import parse_counts, parse_sizes
from steelyard.engines.description import Op, Ops, Param
from steelyard.plan.arms import arm_of, factor_of, with_arms
from steelyard.plan.arrivals import check_arrivals
from steelyard.plan.axis import CORES, numbers_in, words_in
from steelyard.plan.bounds import BoundedCase, BoundedParams, Impossible
from steelyard.plan.companions import axes_of, with_references, with_work
from steelyard.plan.exclude import Excluded
from steelyard.plan.file_ops import check_used, ops_with_files, without_unasked
from steelyard.plan.host_pairs import host_placements, is_of_hosts, placement_words
from steelyard.plan.own_ops import select_own
from steelyard.plan.params import (
    combined_params,
    fitting,
    has_bounds,
    no_param,
    ops_words,
    param_rows,
    params_of,
)
from steelyard.plan.placement import OF_ANY_HOSTS, placements_of
from steelyard.plan.plan import Measure, Plan, Value, nearest
from steelyard.plan.settings import settings_axis, words_of
from steelyard.plan.teams import Team, teams_of
from steelyard.records.campaign_file import Placement, PlannedPoint
from steelyard.records.command_line import command
from steelyard.records.kinds import FAULT, FILE
from steelyard.system.openmp import omp_axis
from steelyard.system.topology import NOWHERE, Topology

_NAMES = {MPI: "MPI", SHMEM: "OpenSHMEM"}  # what kinds of engine run with
CROWDED_METHOD = "barrier"  # of collectives with more ranks than cores


def select_ops(patterns: Sequence[str], ops: Ops) -> tuple[str, ...]:
    """Select the ops that names and patterns such as `mpi.i*` mean, in the order of the table. Raises
    InputError.
    """
    chosen: dict[str, None] = {}
    for pattern in patterns:
        if (own := select_own(pattern, ops.all, ops.not_loaded)) is not None:
            chosen |= dict.fromkeys(own)
            continue
        if any(letter in pattern for letter in "*?["):
            fitting = [op for name, op in ops.all.items() if fnmatch.fnmatchcase(name, pattern)]
            found = [op.name for op in fitting if op.role != FAULT]  # faults must be named exactly
        else:
            found = [pattern] if pattern in ops.all else []
        if not found:
            hint = nearest(pattern, ops.all) or ";"
            raise InputError(f"there is no op '{pattern}'{hint} 'steelyard list' names all")
        chosen |= dict.fromkeys(found)
    return tuple(chosen)


def _choose(word: str | None, default: str, known: Mapping[str, object], what: str) -> str:
    if word is not None and word not in known:
        hint = nearest(word, known) or ";"
        raise InputError(f"there is no {what} '{word}'{hint} give one of {', '.join(known)}")
    return word or default


def _sizes(measure: Measure, op: Op, ops: Ops, explicit: bool) -> tuple[int, ...]:
    """Read the sizes of an op: one without sizes ignores those meant for others, unless it is alone."""
    if not op.sized:
        if explicit and measure.bytes is not None:
            raise InputError(f"{op.name} has no size; leave --bytes out")
        return (0,)
    axis = op.default_bytes if measure.bytes is None else measure.bytes
    sizes = numbers_in("0" if axis is None else axis, parse_sizes)
    _check_limit(max(sizes), ops.limits.bytes, f"bytes of {op.name}", "give smaller sizes with --bytes")
    return sizes


def _check_limit(number: int, most: int, what: str, remedy: str) -> None:
    """Raise InputError for a number that an engine cannot hold."""
    if number > most:
        raise InputError(f"{number} {what} are more than an engine can hold, which is {most}; {remedy}")


def resolve(
    plan: Plan, ops: Ops, mpis: Sequence[str], cores: int, topology: Topology = NOWHERE
) -> tuple[PlannedPoint, ...]:
    """Make all points of a plan. `mpis`: names of those that take part, and of OpenSHMEM libraries; `cores`:
    how many this process may use.

    `_engine_for` chooses the engine of an op. `topology` is the origin of placements, if a
    plan names any. Raises InputError.
    """
    factor = factor_of(plan)
    plan = without_unasked(with_arms(plan))
    if (plan.seed or 0) > (most := ops.limits.seed - MOST_LAUNCHES):
        raise InputError(f"the seed {plan.seed} is more than an engine can hold; give at most {most}")
    libraries: dict[str, list[str | None]] = {SOLO: [None]}
    for mpi in mpis:
        libraries.setdefault(engine_kind(mpi), []).append(mpi)
    points: dict[tuple[Any, ...], PlannedPoint] = {}
    tried = itertools.count(1)
    for number, measure in enumerate(plan.measure):
        selected = select_ops(measure.ops, ops)
        may_not_fit = (measure.ranks_per_host is not None or measure.ranks == CORES) and len(plan.measure) > 1
        impossible, excluded = Impossible(), Excluded(measure.exclude)
        asked: list[_Asked] = []
        for name in ops_with_files(measure, selected, ops, is_alone=len(plan.measure) == 1):
            alone = selected == (name,) and not may_not_fit
            for one in _asked_of(measure, number, ops.all[name], ops, libraries, cores, topology, alone):
                asked.append(one)
                for point in _cases(one, ops):
                    check_test_cases(next(tried))
                    if excluded.leaves_out(point):
                        continue
                    impossible.look(point, one.bounded, alone=alone)
                    point = msgspec.structs.replace(point, point=len(points), arm=arm_of(point, factor))
                    points.setdefault(axes_of(point), point)
        if not asked and may_not_fit and (points or number + 1 < len(plan.measure)):
            continue  # the hosts or cores are too few for its ops
        _check_used(measure, selected, asked)
        excluded.check()
        impossible.check()
        if not points:
            raise InputError(f"what is excluded leaves nothing of {ops_words(selected)}; exclude less")
    _check_whole(plan, points.values(), ops)
    return with_references(with_work(points, ops), ops)


# What a launch has only once: library and its variables, level of threads, settings of OpenMP.
_Start = tuple[tuple[str | None, dict[str, str]], str | None, dict[str, str]]


class _Asked(msgspec.Struct, frozen=True):
    """Test cases of an op that differ by parameters, libraries, levels of threads and settings alone.

    `rows` are the parameters that they have, `bounded` those that a test case bounds; `values` are
    combinations of their values, `starts` those of all else; `kind` is that of their engine.
    """

    shared: PlannedPoint
    rows: Mapping[str, Param]
    bounded: BoundedParams
    values: Sequence[Mapping[str, Value]]
    kind: str
    starts: Sequence[_Start]


def _asked_of(
    measure: Measure,
    number: int,
    op: Op,
    ops: Ops,
    libraries: Mapping[str, Sequence[str | None]],
    cores: int,
    topology: Topology,
    alone: bool,
) -> Iterator[_Asked]:
    """Make what the measure of that `number` asks of an op. Raises InputError.

    What test cases have in common is made once: there may be ten thousands of them.
    """
    rule = _choose(measure.rule, next(iter(ops.rules)), ops.rules, "stop rule")

    @cache
    def rows_of(method: str) -> tuple[dict[str, Param], BoundedParams]:
        rows = param_rows(op, method, rule, ops)
        return rows, BoundedParams(rows)

    @cache
    def starts_of(kind: str) -> tuple[_Start, ...]:
        levels = (None,) if kind == SOLO else tuple(_thread_levels(measure, op))
        settings = [(mpi, env) for mpi in libraries[kind] for env in _settings(measure, op, mpi)]
        return tuple(product_of(settings, levels, omp_axis(measure.omp)))

    @cache
    def values_of(method: str, ranks: int, threads: int, size: int) -> list[dict[str, Value]]:
        return combined_params(measure, op.name, rows_of(method)[0], BoundedCase(ranks, threads, size))

    for size, team, threads, place, method in _axes(measure, op, ops, cores, topology, alone):
        rows, bounded = rows_of(method)
        kind = _engine_for(measure, op, team, ops, place)
        wanted = values_of(method, *((team.ranks, threads, size) if has_bounds(measure) else (1, 1, 0)))
        shared = PlannedPoint(
            point=0,
            op=op.name,
            bytes=size,
            ranks=team.ranks,
            hosts=None if kind == SOLO else team.hosts,
            threads=threads,
            method=method,
            rule=rule,
            placement=place,
            beside=number if measure.beside else None,
            first=measure.first,
            opens=op.first,
        )
        if usual := fitting(op, size):
            wanted = [usual | given for given in wanted]
        yield _Asked(shared, rows, bounded, wanted, kind, starts_of(kind))


def _check_used(measure: Measure, selected: Sequence[str], asked: Sequence[_Asked]) -> None:
    """Raise InputError for a measure without test cases, or with what is of no use to any of them."""
    suited = {one.shared.method for one in asked}
    if idle := [method for method in words_in(measure.method) if method not in suited]:
        others = command("list", selected[0])
        raise InputError(f"the method {idle[0]} suits none of {ops_words(selected)}; '{others}' names others")
    if not asked:
        raise InputError(_why_none_suits(measure, selected))
    known = {name for one in asked for name in one.rows}
    if unused := set(measure.params) - known:
        raise InputError(no_param(min(unused), selected, known))
    if measure.thread_level is not None and all(one.kind == SOLO for one in asked):
        raise InputError(f"no test case of {ops_words(selected)} starts MPI; leave --thread-level out")


def _why_none_suits(measure: Measure, selected: Sequence[str]) -> str:
    names = ops_words(selected)
    if measure.placement is not None:
        places = f"as many places as the placement {measure.placement}"
        return f"none of {names} has {places}; give ranks or threads for it: two for pairs"
    few = "takes so few ranks or so many threads"
    return f"none of {names} {few}; give more with -n, or fewer with --threads"


def _check_whole(plan: Plan, points: Collection[PlannedPoint], ops: Ops) -> None:
    """Raise InputError for what a plan asks of all its test cases, and none can have."""
    replayed = [(p.op, p.ranks) for p in points if p.params.get("arrival") == "file"]
    if plan.refine and not any(ops.all[name].sized for name in {p.op for p in points}):
        raise InputError("none of these ops has sizes, which --refine adds to; leave it out")
    check_used(plan, points)
    check_arrivals(None if isinstance(plan.arrivals, str) else plan.arrivals, replayed)


def _cases(asked: _Asked, ops: Ops) -> Iterator[PlannedPoint]:
    """Make the points of each combination."""
    shared = asked.shared
    op, method, rule = ops.all[shared.op], ops.methods[shared.method], ops.rules[shared.rule]
    for params, ((mpi, env), level, omp) in product_of(asked.values, asked.starts):
        yield msgspec.structs.replace(
            shared,
            thread_level=level,
            params=params_of(op, params),
            method_params=params_of(method, params),
            rule_params=params_of(rule, params),
            mpi=mpi,
            omp=omp,
            env=env,
        )


def _settings(measure: Measure, op: Op, mpi: str | None) -> tuple[dict[str, str], ...]:
    files = words_of(measure.files) if op.role == FILE else ()
    return settings_axis(measure.env, words_of(measure.modules), words_of(measure.wrapper), mpi, files)


def _engine_for(measure: Measure, op: Op, team: Team, ops: Ops, place: Placement | None) -> str:
    """Choose the kind of engine for a point: that of the measure; else without a library what can be, on one
    rank, between two of one host, or of files, because then no library interferes; else that of the op.

    Raises InputError.
    """
    of_hosts = (team.hosts or 1) > 1 or (place is not None and bool(place.hosts))
    asked = measure.engine
    if asked == SOLO and of_hosts:
        where = place.text if place is not None else team.hosts
        raise InputError(
            f"{op.name} without MPI runs on this host, not on {where}; leave --engine {SOLO} out"
        )
    own = SHMEM if op.name in ops.shmem and op.name not in (ops.mpi or ops.solo) else MPI
    if asked is not None:
        is_able = op.name in ops.solo or asked == own
        if not is_able:
            raise InputError(f"{op.name} cannot run without {_NAMES[own]}; leave --engine {asked} out")
        return asked
    if op.name in ops.solo and not of_hosts and (team.ranks == 1 or op.class_ == "p2p" or op.role == FILE):
        return SOLO
    return own


def _axes(
    measure: Measure, op: Op, ops: Ops, cores: int, topology: Topology, alone: bool
) -> Iterator[tuple[int, Team, int, Placement | None, str]]:
    """Make every size, team of ranks, number of threads, placement and method of an op."""
    for size, threads in product_of(_sizes(measure, op, ops, alone), _threads(measure, op, ops, alone)):
        for team, place in _placements(measure, op, threads, cores, topology, alone):
            _check_limit(team.ranks, ops.limits.ranks, f"ranks of {op.name}", "give fewer with -n")
            crowded = place.shares if place and place.cpus else team.per_host * threads > cores
            for method in _methods(measure, op, ops, crowded):
                if team.ranks < (least := ops.methods[method].min_ranks):
                    raise InputError(
                        f"the method {method} needs {least} ranks, not {team.ranks}; give -n {least}"
                    )
                yield size, team, threads, place, method


def _placements(
    measure: Measure, op: Op, threads: int, cores: int, topology: Topology, alone: bool
) -> Iterator[tuple[Team, Placement | None]]:
    """Make the teams of an op with their places; those that do not fit are left out, unless the
    op is alone.
    """
    words = placement_words(measure)
    among_hosts = [word for word in words if is_of_hosts(word, topology.hosts)]
    on_cpus = [word for word in words if word not in among_hosts]
    for team in teams_of(measure, op, cores, alone) if on_cpus or not words else ():
        if not words:
            yield team, None
            continue
        of_one = [word for word in on_cpus if word not in OF_ANY_HOSTS]
        if (team.hosts or 1) > 1 and of_one:
            raise InputError(
                f"the placement {of_one[0]} is for one host, and {team.hosts} are asked for; give "
                "--placement hosts-each, or leave --hosts out"
            )
        whose = f"{op.name} on {counted(team.ranks, 'rank')}"
        whose += f" of {threads} threads" if threads > 1 else ""
        for place in placements_of(on_cpus, team.ranks * threads, whose, topology, strict=alone):
            yield team, place
    yield from host_placements(among_hosts, measure, op, topology.hosts, alone)


def _methods(measure: Measure, op: Op, ops: Ops, crowded: bool) -> tuple[str, ...]:
    """Choose the methods of an op: its own, or the named ones that suit it; one alone must. Raises
    InputError.

    Ranks that share cores cannot start at one instant, so their default is a method that does not need it.
    """
    named = words_in(measure.method)
    for method in named:
        _choose(method, "", ops.methods, "method")
    if not named:
        default = op.default_method
        return (CROWDED_METHOD if crowded and ops.methods[default].synchronised else default,)
    suiting = tuple(method for method in named if method in op.methods)
    if len(named) == 1 and not suiting:
        raise InputError(f"the method {named[0]} does not suit {op.name}; use {' or '.join(op.methods)}")
    return suiting


def _threads(measure: Measure, op: Op, ops: Ops, alone: bool) -> tuple[int, ...]:
    """Choose the numbers of threads of an op: too large ones are left out, unless it is alone.

    An op between two threads has two if fewer are asked for, such as one, the default.
    """
    threads = numbers_in(measure.threads, lambda text: parse_counts(text, "threads"))
    _check_limit(max(threads), ops.limits.threads, f"threads of {op.name}", "give fewer with --threads")
    least, most = op.min_threads, op.max_threads or max(threads)
    if alone and max(threads) > most:
        where = "one thread" if most == 1 else f"{most} threads at most"
        raise InputError(f"{op.name} runs in {where}, not in {max(threads)}; leave --threads out")
    return tuple(dict.fromkeys(max(least, count) for count in threads if count <= most))


def _thread_levels(measure: Measure, op: Op) -> tuple[str | None, ...]:
    """Choose the levels of MPI's thread support: those of the measure, or the one that the op needs.

    None if both leave that to the number of threads.
    """
    return words_in(measure.thread_level) or (op.thread_level,)
