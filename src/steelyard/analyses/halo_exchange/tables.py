"""Exchanges of applications as tables: each way against messages of one thread, and beside a halo op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.best_arms import AGREES, DISAGREES
from steelyard.analyses.halo_exchange.model import Exchanges, ExchangeWay, MicroOrder, way_name
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts
from steelyard.stats import Interval

_SAID = {
    AGREES: "the micro-benchmark would have named the best exchange",
    DISAGREES: "the micro-benchmark would not have named the best exchange",
}
_OPEN = "undecided whether the micro-benchmark would have named the best exchange"


def exchange_tables(entries: Sequence[Exchanges]) -> tuple[Table, ...]:
    """Make a line for each way of each application, the shares of its phases, then both orders side by side.

    Without exchanges there are no tables.
    """
    if not entries:
        return ()
    names = exchange_names(entries)
    orders = [
        (name + (f", {order.threads} threads" if order.threads > 1 else ""), order)
        for name, one in zip(names, entries, strict=True)
        for order in one.orders
    ]
    return (_ways(entries, names), *_phases(entries, names), *([_orders(orders)] if orders else []))


def exchange_names(entries: Sequence[Exchanges]) -> tuple[str, ...]:
    """`app.hpccg, openmpi-4.1.4`: each application with what differs among those of the same op."""
    names = {}
    for op in dict.fromkeys(entry.op for entry in entries):
        own = [entry for entry in entries if entry.op == op]
        labels = labels_of([_facts(one) for one in own])
        for i, one in enumerate(own):
            told = (said for axis in labels.varying if (said := axis.facts[i].said))
            names[id(one)] = ", ".join((op, *told))
    return tuple(names[id(entry)] for entry in entries)


def _facts(exchanges: Exchanges) -> Facts:
    return {
        "mpi": Fact("MPI", exchanges.mpi, exchanges.mpi),
        "ranks": count_fact("rank", exchanges.ranks),
        **param_facts(exchanges.params),
    }


def way_words(way: ExchangeWay) -> str:
    """`fence`, `fence, 2 threads`, `fence, 2 movers apart`."""
    name = way_name(way.backend, way.movers, way.apart)
    return name if way.movers > 1 or way.threads == 1 else f"{name}, {way.threads} threads"


def _ways(entries: Sequence[Exchanges], names: Sequence[str]) -> Table:
    return Table(
        title="exchanges of applications",
        explained="ratio: the time over that of nonblocking messages of one thread, launch by launch; below "
        "1 is faster; movers: threads that move messages at once; apart: each in a window or communicator "
        "of its own",
        columns=(
            words("what"),
            words("exchange"),
            *map(number, ("time", "ratio", "interval", "sending, waiting")),
        ),
        lines=plain_lines(
            (
                name,
                way_words(way),
                format_time(way.time),
                f"{way.ratio.value:.3f}",
                _interval_words(way.ratio),
                NOTHING if way.communication is None else f"{100 * way.communication:.1f} %",
            )
            for name, one in zip(names, entries, strict=True)
            for way in sorted(one.ways, key=lambda way: way.time)
        ),
        grouped=1,
    )


def _phases(entries: Sequence[Exchanges], names: Sequence[str]) -> Iterator[Table]:
    """Make a table for each application: a column for each phase, a line for each way."""
    for name, one in zip(names, entries, strict=True):
        phases = list(one.base.shares)
        if phases:
            yield Table(
                title=f"phases by exchange: {name}",
                explained="% of the time of all phases, over all ranks",
                columns=(words("exchange"), *map(number, phases)),
                lines=plain_lines(
                    (way_words(way), *(f"{100 * way.shares.get(phase, 0.0):.0f}" for phase in phases))
                    for way in sorted(one.ways, key=lambda way: way.time)
                ),
            )


def _orders(orders: Sequence[tuple[str, MicroOrder]]) -> Table:
    """Make a line for each place: the way that takes it in the halo op, and the one in the application."""
    return Table(
        title="would micro-benchmarks have named the best exchange",
        explained="exchanges by the same number of threads, the fastest first; *: the best, or not "
        "distinguishable from it (5 %)",
        columns=(words("what"), number("place"), words("halo"), words("application")),
        lines=plain_lines(
            (name, str(place + 1), _marked(micro, order.micro_best), _marked(macro, order.macro_best))
            for name, order in orders
            for place, (micro, macro) in enumerate(zip(order.micro, order.macro, strict=True))
        ),
        notes=tuple(_sentence(name, order) for name, order in orders),
        grouped=1,
    )


def _marked(name: str, best: Sequence[str]) -> str:
    return f"{name} *" if name in best else name


def _sentence(name: str, order: MicroOrder) -> str:
    """`app.hpccg: the micro-benchmark would have named the best exchange. Best in mpi.halo.3d7 ...`."""
    p = "" if order.p is None else f", p {order.p:.2g}"
    return (
        f"{name}: {_SAID.get(order.verdict, _OPEN)}. Best in {order.op} {format_bytes(order.bytes)}: "
        f"{best_words(order.micro_best, order.micro)}; in the application: "
        f"{best_words(order.macro_best, order.macro)}; Kendall's tau of the orders {order.tau:+.2g}{p}."
    )


def best_words(best: Sequence[str], all_ways: Sequence[str]) -> str:
    """Name the best ways; those that are all as good are none."""
    return "none is clearly best" if len(best) in (0, len(all_ways)) else " or ".join(best)


def _interval_words(span: Interval) -> str:
    if span.low is None or span.high is None:
        return NOTHING
    return f"{span.low:.3f} – {span.high:.3f}"
