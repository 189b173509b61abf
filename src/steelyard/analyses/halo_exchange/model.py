"""Exchanges of applications: each way to move a halo against messages of one thread, and the order of ways in
micro-benchmarks.

A way is a back end, a number of threads that move messages (`movers`), and whether they share a window or
communicator. A ratio is the time with a way over that with nonblocking messages of one thread, in the same
launch; below 1 the way is faster. Launches of ways alternate, so that each ratio compares neighbours in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.analyses.best_arms import leaders_of, verdict_of
from steelyard.records.fields import Params
from steelyard.results.agreement import HOW, problem_of
from steelyard.results.facets import Inside
from steelyard.results.row import Row, any_row, launch_medians, modes_of
from steelyard.results.row_kinds import is_kernel
from steelyard.stats import Interval, kendall, span_of

BASE = "nonblocking"  # the back end that all others are compared with
_BACKEND, _BACK = "backend", "back"  # the parameter of an application, and of a halo
# The name of a back end in a halo -> its name in an application.
_NAMES = {"sendrecv": "blocking", "neighborw": "neighbour", "neighbor": "neighbour"}
_LEAST_WAYS = 3  # two orders of two agree by chance half of the time


class ExchangeWay(Struct, frozen=True, kw_only=True):
    """A way: its time in ns, the ratio to `BASE` with its interval over launches, and the share of the phases
    that communicate, waiting included; None if no phases were recorded. `shares` are those of all phases.
    `apart`: each mover has a window or communicator of its own.
    """

    backend: str
    movers: int
    apart: bool
    threads: int
    time: float
    ratio: Interval
    communication: float | None
    shares: dict[str, float] = {}


class MicroOrder(Struct, frozen=True, kw_only=True):
    """A halo with messages of about the application's size, and the ways in its order and in the
    application's.

    Both are of ranks of `threads` threads, the fastest first; ways are named by `way_name`. `tau` is
    Kendall's of the two orders, with its exact p. `verdict` as in `Agreement`: whether the micro-benchmark
    names the exchange that is best in the application.
    """

    op: str
    bytes: int
    threads: int
    micro: tuple[str, ...]
    micro_best: tuple[str, ...]
    macro: tuple[str, ...]
    macro_best: tuple[str, ...]
    tau: float
    p: float | None
    verdict: str


class Exchanges(Struct, frozen=True, kw_only=True):
    """An application's measured ways under one MPI; ratios are to `base`.

    `orders` has one for each number of threads with which a halo was measured, too.
    """

    op: str
    mpi: str
    ranks: int
    params: Params
    base: ExchangeWay
    ways: tuple[ExchangeWay, ...]
    orders: tuple[MicroOrder, ...] = ()


def exchanges_of(rows: Sequence[Row]) -> tuple[Exchanges, ...]:
    """Compare the ways of each application that was measured with `BASE` by one thread and with
    another way.
    """
    return tuple(_exchanges(own, base, rows) for own, base in _applications(rows))


def other_ways(rows: Sequence[Row]) -> frozenset[int]:
    """Map the rows of these applications by `id`, without their bases."""
    return frozenset(id(row) for own, base in _applications(rows) for row in own if row is not base)


def _is_good(row: Row) -> bool:
    return row.status == "ok" and row.mpi is not None and bool(launch_medians(row))


def _applications(rows: Sequence[Row]) -> Iterator[tuple[Sequence[Row], Row]]:
    """Group the rows of each application's problem, with the base; none without a base or other ways."""
    problems: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if is_kernel(row) and _BACKEND in row.params and _is_good(row):
            problems.setdefault(_problem(row), []).append(row)
    for problem in problems.values():
        least = min(row.threads for row in problem)
        single = (row for row in problem if row.threads == least and _movers(row) == 1)
        base = next((row for row in single if row.params[_BACKEND] == BASE), None)
        if base is not None and len(problem) > 1:
            yield problem, base


def _problem(row: Row) -> tuple[object, ...]:
    return row.mpi, row.op, row.ranks, row.method, tuple(sorted(problem_of(row.params).items(), key=str))


def _movers(row: Row) -> int:
    return int(row.params.get("movers", 1))


def _exchanges(own: Sequence[Row], base: Row, rows: Sequence[Row]) -> Exchanges:
    return Exchanges(
        op=base.op,
        mpi=base.mpi or "",
        ranks=base.ranks,
        params=problem_of(base.params),
        base=_way(base, base),
        ways=tuple(_way(row, base) for row in own),
        orders=tuple(_orders(own, base, [row for row in rows if _is_good(row)])),
    )


def _way(row: Row, base: Row) -> ExchangeWay:
    own, other = launch_medians(row), launch_medians(base)
    ratios = [own[launch] / other[launch] for launch in sorted(own.keys() & other.keys())]
    inside = row.get(Inside).phases
    return ExchangeWay(
        backend=str(row.params[_BACKEND]),
        movers=_movers(row),
        apart=_is_apart(row),
        threads=row.threads,
        time=float(np.median(list(own.values()))),
        ratio=span_of(ratios, alike=modes_of(row, base)) if ratios else Interval(math.nan),
        communication=None if inside is None else inside.communication,
        shares={} if inside is None else {phase.name: phase.share for phase in inside.phases},
    )


def _is_apart(row: Row) -> bool:
    return "thread" in (row.params.get("windows"), row.params.get("comms"))


def way_name(backend: str, movers: int, apart: bool) -> str:
    """`fence`, `fence, 2 movers`, `fence, 2 movers apart`."""
    return backend if movers == 1 else f"{backend}, {movers} movers" + (" apart" if apart else "")


def _orders(own: Sequence[Row], base: Row, rows: Sequence[Row]) -> Iterator[MicroOrder]:
    for threads in sorted({row.threads for row in own}):
        macro = {
            way_name(str(row.params[_BACKEND]), _movers(row), _is_apart(row)): row
            for row in own
            if row.threads == threads
        }
        if (order := _order(macro, base, rows, threads)) is not None:
            yield order


def _order(macro: Mapping[str, Row], base: Row, rows: Sequence[Row], threads: int) -> MicroOrder | None:
    """Compare the application's order with that of the halo whose messages are most like its own."""
    inside = base.get(Inside).phases
    size = inside.bytes / inside.messages if inside is not None and inside.messages else 0.0
    halos = [halo for halo in _halos(rows, base, threads) if len(halo.keys() & macro.keys()) >= _LEAST_WAYS]
    if not halos:
        return None
    halo = min(halos, key=lambda one: abs(math.log2(any_row(one).bytes + 1) - math.log2(size + 1)))
    names = [name for name in macro if name in halo]
    times = [{name: launch_medians(rows_of[name]) for name in names} for rows_of in (halo, macro)]
    micro_best, macro_best = leaders_of(times)
    medians = [{name: float(np.median(list(line[name].values()))) for name in names} for line in times]
    tau, p = kendall(*([line[name] for name in names] for line in medians))
    orders = [tuple(sorted(names, key=line.__getitem__)) for line in medians]
    return MicroOrder(
        op=any_row(halo).op,
        bytes=any_row(halo).bytes,
        threads=threads,
        micro=orders[0],
        micro_best=micro_best.best,
        macro=orders[1],
        macro_best=macro_best.best,
        tau=tau,
        p=p,
        verdict=verdict_of(micro_best.best, macro_best.best),
    )


def _halos(rows: Sequence[Row], base: Row, threads: int) -> Iterator[dict[str, Row]]:
    """Map each halo under the same MPI on as many ranks: its rows by the names that applications use."""
    found: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        if _BACK in row.params and (row.mpi, row.ranks, row.threads) == (base.mpi, base.ranks, threads):
            params = {name: value for name, value in row.params.items() if name not in (_BACK, *HOW)}
            key = (row.op, row.bytes, row.method, tuple(sorted(params.items(), key=str)))
            back = str(row.params[_BACK])
            name = way_name(_NAMES.get(back, back), _movers(row), _is_apart(row))
            found.setdefault(key, {}).setdefault(name, row)
    yield from found.values()
