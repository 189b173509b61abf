"""Growth of collectives with the ranks, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.growth.model import Growth, GrowthAhead, unmodelled_growths
from steelyard.analyses.growth.normal_form import LEAST_COUNTS
from steelyard.analyses.unmodelled import unmodelled_tables
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.results.row import Row
from steelyard.rows.labels import Facts, labels_of, method_facts, op_with_facts
from steelyard.rows.words import interval_words

BEYOND = (
    "beyond the ranks that were measured, a model holds only while the library keeps its algorithm and no "
    "more ranks share a link"
)


def growth_tables(growths: Sequence[Growth]) -> tuple[Table, ...]:
    """A line for each collective and size; none without any."""
    if not growths:
        return ()
    labels = labels_of([_facts(growth) for growth in growths])
    return (
        Table(
            "growth with ranks",
            ", ".join(("a model over p ranks and its predictions for more", *labels.common.values())),
            (
                words("op"),
                *(axis.column for axis in labels.varying),
                *(number(name) for name in ("bytes", "ranks")),
                words("model"),
                number("fit error"),
                *map(words, ("at twice the ranks", "at four times")),
            ),
            plain_lines((one.op, *labels.cells(i), *_cells(one)) for i, one in enumerate(growths)),
            (BEYOND,),
            grouped=1,
        ),
    )


def growth_names(growths: Sequence[Growth]) -> tuple[str, ...]:
    """Name each: `mpi.bcast, openmpi-4.1.4`, with what differs among them except the size."""
    labels = labels_of([_facts(growth) for growth in growths])
    return tuple(op_with_facts(labels, i, growth.op) for i, growth in enumerate(growths))


def model_words(growth: Growth) -> str:
    """`1.20 us + 340 ns log2(p)`."""
    told = [f"{format_time(term.factor)} {term.words}" for term in growth.terms]
    return " + ".join([*([format_time(growth.constant)] if growth.constant or not told else []), *told])


def _facts(growth: Growth) -> Facts:
    return method_facts(growth.mpi, growth.method, growth.params)


def _cells(growth: Growth) -> tuple[str, ...]:
    return (
        format_bytes(growth.bytes),
        f"{growth.points[0].ranks} – {growth.points[-1].ranks}",
        model_words(growth),
        f"{100 * growth.error:.1f} %",
        *map(_ahead_words, growth.ahead),
    )


def _ahead_words(ahead: GrowthAhead) -> str:
    """`256: 12.1 us (10.2 us – 15.0 us)`."""
    span = ahead.time
    return f"{ahead.ranks}: {format_time(span.value)} ({interval_words(span.low, span.high)})"


def unmodelled_growth_tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Make a line for each collective whose growth has no model; none without any."""
    return unmodelled_tables("growth", LEAST_COUNTS, unmodelled_growths(rows))
