"""Impact factors of congestion as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.congestion.model import P50, Congestion
from steelyard.base.units import format_bytes, format_factor, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.results.facets.tails import TOLD
from steelyard.rows.labels import Fact, Facts, Labels, count_fact, labels_of, param_facts
from steelyard.rows.words import ratio_span

_PREFIX = "mpi.pattern."


def congestion_tables(found: Sequence[Congestion]) -> tuple[Table, ...]:
    """A line for each victim, size and congestor; none without any."""
    if not found:
        return ()
    labels = congestion_labels(found)
    return (
        Table(
            title="congestion",
            explained=", ".join(("times as long as beside idle ranks, by quantile", *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(words("beside"), number("idle"), number("loaded"), number("impact", strong=True)),
                *(number("from"), number("to"), *map(number, TOLD), words("victim is")),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(one)) for i, one in enumerate(found)),
            grouped=len(labels.varying),
        ),
    )


def congestion_labels(found: Sequence[Congestion]) -> Labels:
    """Name each by what distinguishes it, beside its congestor."""
    return labels_of([_facts(one) for one in found])


def _facts(one: Congestion) -> Facts:
    size, victim = format_bytes(one.bytes), one.op.removeprefix(_PREFIX)
    return {
        "op": Fact("victim", victim, victim),
        "mpi": Fact("MPI", one.mpi or "", one.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": count_fact("rank", one.ranks),
        "method": Fact("method", one.method, f"method {one.method}"),
        **param_facts(one.params, is_usual=True),
    }


def _cells(one: Congestion) -> tuple[str, ...]:
    impact = one.impact.get(P50)
    span = ratio_span(impact.value, impact.low, impact.high) if impact else (NOTHING,) * 3
    tails = [one.impact.get(name) for name in TOLD]
    return (
        one.traffic,
        format_time(one.quiet),
        format_time(one.loaded),
        *span,
        *(NOTHING if tail is None else format_factor(tail.value) for tail in tails),
        one.verdict,
    )
