"""The effective bisection bandwidth, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.effective_bisection.model import EffectiveBisection
from steelyard.base.units import format_bytes, format_rate
from steelyard.render.table import Table, number, plain_lines
from steelyard.rows.labels import labels_of, method_facts
from steelyard.rows.words import half_words


def effective_bisection_tables(means: Sequence[EffectiveBisection]) -> tuple[Table, ...]:
    """A line for each size; none without any."""
    if not means:
        return ()
    labels = labels_of([method_facts(mean.mpi, mean.method, mean.params) for mean in means])
    return (
        Table(
            title="effective bisection bandwidth",
            explained=", ".join(
                (
                    "all ranks together: mean of drawn matchings, slowest, fastest",
                    *labels.common.values(),
                )
            ),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("ranks"), number("bytes"), number("draws"), number("rate", strong=True)),
                *map(number, ("±", "slowest", "fastest")),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(mean)) for i, mean in enumerate(means)),
            grouped=0,
        ),
    )


def _cells(mean: EffectiveBisection) -> tuple[str, ...]:
    return (
        str(mean.ranks),
        format_bytes(mean.bytes),
        str(mean.seeds),
        format_rate(mean.rate.value),
        half_words(mean.rate.value, mean.rate.low, mean.rate.high),
        format_rate(mean.least[1]),
        format_rate(mean.most[1]),
    )
