"""Exchanges of applications: each way to move a halo against messages of one thread, and against what
micro-benchmarks of the same ways say.

A way is a back end, how many threads move (`movers`), and whether they share a window or communicator. A
ratio is the time with a way over that with nonblocking messages of one thread, in the same launch; below 1
the way is faster. Launches of ways take turns, so that each ratio is of neighbours in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.models.bests import leaders_of
from steelyard.models.loggp import launch_medians, span_of
from steelyard.models.micro_macro import is_kernel, verdict_of
from steelyard.records.fields import Params
from steelyard.results.agreement import problem_of
from steelyard.results.facets import Inside
from steelyard.results.row import Row
from steelyard.stats import Interval, kendall

BASE = "nonblocking"  # whose messages everything is held against
_BACKEND, _BACK = "backend", "back"  # the parameter of an application, and of a halo
# What a halo calls a back end -> what an application calls it.
_NAMES = {"sendrecv": "blocking", "neighborw": "neighbour", "neighbor": "neighbour"}
_LEAST_WAYS = 3  # two orders of two agree by chance half of the time


class ExchangeWay(Struct, frozen=True, kw_only=True):
    """A way: its time in ns, the ratio to `BASE` with its interval over launches, and the share of the phases
    that communicate, waiting included; None where no phases were recorded. `apart`: each mover has a window
    or communicator of its own.
    """

    backend: str
    movers: int
    apart: bool
    threads: int
    time: float
    ratio: Interval
    communication: float | None


class MicroOrder(Struct, frozen=True, kw_only=True):
    """A halo of about the size of the application's messages, and the ways in its order and in the other's.

    Both are of one thread, the fastest first. `tau` is Kendall's of the two, with its exact p. `verdict` as
    of `Agreement`: whether the micro-benchmark names the exchange that is best in the application.
    """

    op: str
    bytes: int
    micro: tuple[str, ...]
    micro_best: tuple[str, ...]
    macro: tuple[str, ...]
    macro_best: tuple[str, ...]
    tau: float
    p: float | None
    verdict: str


class Exchanges(Struct, frozen=True, kw_only=True):
    """An application's ways under one MPI, as they were measured; `base` is the one that ratios are to."""

    op: str
    mpi: str
    ranks: int
    params: Params
    base: ExchangeWay
    ways: tuple[ExchangeWay, ...]
    order: MicroOrder | None = None


def exchanges_of(rows: Sequence[Row]) -> tuple[Exchanges, ...]:
    """Each application that was measured with `BASE` by one thread and with another way, in their order."""
    problems: dict[tuple[object, ...], list[Row]] = {}
    good = [row for row in rows if row.status == "ok" and row.mpi is not None and launch_medians(row)]
    for row in good:
        if is_kernel(row) and _BACKEND in row.params:
            problems.setdefault(_problem(row), []).append(row)
    found = (_exchanges(own, good) for own in problems.values())
    return tuple(one for one in found if one is not None)


def _problem(row: Row) -> tuple[object, ...]:
    return row.mpi, row.op, row.ranks, row.method, tuple(sorted(problem_of(row.params).items(), key=str))


def _movers(row: Row) -> int:
    return int(row.params.get("movers", 1))


def _exchanges(own: Sequence[Row], rows: Sequence[Row]) -> Exchanges | None:
    """None without the base, or with nothing beside it."""
    single = [row for row in own if row.threads == min(one.threads for one in own) and _movers(row) == 1]
    base = next((row for row in single if row.params[_BACKEND] == BASE), None)
    if base is None or len(own) < 2:
        return None
    ways = {id(row): _way(row, base) for row in own}
    return Exchanges(
        op=base.op,
        mpi=base.mpi or "",
        ranks=base.ranks,
        params=problem_of(base.params),
        base=ways[id(base)],
        ways=tuple(ways.values()),
        order=_order(single, base, rows),
    )


def _way(row: Row, base: Row) -> ExchangeWay:
    own, other = launch_medians(row), launch_medians(base)
    ratios = [own[launch] / other[launch] for launch in sorted(own.keys() & other.keys())]
    inside = row.get(Inside).phases
    return ExchangeWay(
        backend=str(row.params[_BACKEND]),
        movers=_movers(row),
        apart="thread" in (row.params.get("windows"), row.params.get("comms")),
        threads=row.threads,
        time=float(np.median(list(own.values()))),
        ratio=span_of(ratios) if ratios else Interval(math.nan),
        communication=None if inside is None else inside.communication,
    )


def _order(single: Sequence[Row], base: Row, rows: Sequence[Row]) -> MicroOrder | None:
    """The application's order beside that of the halo whose messages are most like its own."""
    macro = {str(row.params[_BACKEND]): row for row in single}
    halos = list(_halos(rows, base))
    inside = base.get(Inside).phases
    size = inside.bytes / inside.messages if inside is not None and inside.messages else 0.0
    halos = [halo for halo in halos if len(halo.keys() & macro.keys()) >= _LEAST_WAYS]
    if not halos:
        return None
    halo = min(halos, key=lambda one: abs(math.log2(_any(one).bytes + 1) - math.log2(size + 1)))
    names = [name for name in macro if name in halo]
    times = [{name: launch_medians(rows_of[name]) for name in names} for rows_of in (halo, macro)]
    micro_best, macro_best = leaders_of(times)
    medians = [{name: float(np.median(list(line[name].values()))) for name in names} for line in times]
    tau, p = kendall(*([line[name] for name in names] for line in medians))
    orders = [tuple(sorted(names, key=line.__getitem__)) for line in medians]
    return MicroOrder(
        op=_any(halo).op,
        bytes=_any(halo).bytes,
        micro=orders[0],
        micro_best=micro_best.best,
        macro=orders[1],
        macro_best=macro_best.best,
        tau=tau,
        p=p,
        verdict=verdict_of(micro_best.best, macro_best.best),
    )


def _any(halo: Mapping[str, Row]) -> Row:
    return next(iter(halo.values()))


def _halos(rows: Sequence[Row], base: Row) -> Iterator[dict[str, Row]]:
    """For each halo under the same MPI on as many ranks: its rows by the names that applications use."""
    found: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        if _BACK in row.params and (row.mpi, row.ranks) == (base.mpi, base.ranks):
            params = {name: value for name, value in row.params.items() if name != _BACK}
            key = (row.op, row.bytes, row.method, tuple(sorted(params.items(), key=str)))
            name = str(row.params[_BACK])
            found.setdefault(key, {}).setdefault(_NAMES.get(name, name), row)
    yield from found.values()
