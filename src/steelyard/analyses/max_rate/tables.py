"""The max-rate model as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.max_rate.model import LEAST_PAIRS, MaxRate, unmodelled_rates
from steelyard.analyses.unmodelled import unmodelled_tables
from steelyard.base.units import format_bytes, format_rate
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.results.row import Row
from steelyard.rows.labels import Fact, labels_of, param_facts
from steelyard.stats import Interval


def max_rate_tables(rates: Sequence[MaxRate]) -> tuple[Table, ...]:
    """A line for each pattern of pairs and size; none without any."""
    if not rates:
        return ()
    facts = [
        {"mpi": Fact("MPI", rate.mpi or "", rate.mpi or ""), **param_facts(rate.params)} for rate in rates
    ]
    labels = labels_of(facts)
    return (
        Table(
            title="rates of pairs",
            explained=", ".join(
                (
                    "k pairs together move min(k times the rate of one, what they share)",
                    *labels.common.values(),
                )
            ),
            columns=(
                words("op"),
                *(axis.column for axis in labels.varying),
                *(number("bytes"), number("pairs"), words("rate of"), number("rate", strong=True)),
                *map(number, ("interval", "fit error")),
            ),
            lines=plain_lines(
                (one.op, *labels.cells(i), *cells) for i, one in enumerate(rates) for cells in _cells(one)
            ),
            grouped=len(labels.varying) + 3,
        ),
    )


def _cells(rate: MaxRate) -> Iterator[tuple[str, ...]]:
    first = (format_bytes(rate.bytes), f"{rate.points[0][0]} – {rate.points[-1][0]}")
    missed = f"{100 * rate.missed:.0f} %"
    yield (*first, "a pair", *_rate_cells(rate.pair), missed)
    shared = ("not reached", NOTHING) if rate.shared is None else _rate_cells(rate.shared)
    yield (*first, "all pairs", *shared, missed)


def _rate_cells(span: Interval) -> tuple[str, str]:
    if span.low is None or span.high is None:
        return format_rate(span.value), NOTHING
    return format_rate(span.value), f"{format_rate(span.low)} – {format_rate(span.high)}"


def unmodelled_rate_tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Make a line for each pattern of pairs whose rate has no model."""
    return unmodelled_tables("rate of pairs", LEAST_PAIRS, unmodelled_rates(rows))
