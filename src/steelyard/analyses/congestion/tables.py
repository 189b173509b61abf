"""Impact factors of congestion as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.congestion.model import P50, Congestion
from steelyard.base.units import format_bytes, format_factor, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.results.facets.tails import TOLD
from steelyard.rows.labels import Fact, Facts, Labels, count_fact, labels_of, param_facts, where_facts
from steelyard.rows.words import ratio_span

VICTIM_PREFIX = "mpi.pattern."


def congestion_tables(victims: Sequence[Congestion]) -> tuple[Table, ...]:
    """A line for each victim, size and congestor; none without any."""
    if not victims:
        return ()
    labels = congestion_labels(victims)
    return (
        Table(
            title="congestion",
            explained=", ".join(("times as long as beside idle ranks, by quantile", *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(words("beside"), number("idle"), number("loaded"), number("impact", strong=True)),
                *(number("from"), number("to"), *map(number, TOLD), words("victim is")),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(victim)) for i, victim in enumerate(victims)),
            grouped=len(labels.varying),
        ),
    )


def congestion_labels(victims: Sequence[Congestion]) -> Labels:
    """Name each by what distinguishes it, beside its congestor."""
    return labels_of([_facts(victim) for victim in victims])


def _facts(victim: Congestion) -> Facts:
    size, name = format_bytes(victim.bytes), victim.op.removeprefix(VICTIM_PREFIX)
    return {
        "op": Fact("victim", name, name),
        "mpi": Fact("MPI", victim.mpi or "", victim.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": count_fact("rank", victim.ranks),
        "method": Fact("method", victim.method, f"method {victim.method}"),
        **where_facts(victim.placement, victim.env),
        **param_facts(victim.params, is_usual=True),
    }


def _cells(victim: Congestion) -> tuple[str, ...]:
    impact = victim.impact.get(P50)
    span = ratio_span(impact.value, impact.low, impact.high) if impact else (NOTHING,) * 3
    tails = [victim.impact.get(name) for name in TOLD]
    return (
        victim.traffic,
        format_time(victim.quiet),
        format_time(victim.loaded),
        *span,
        *(NOTHING if tail is None else format_factor(tail.value) for tail in tails),
        victim.verdict,
    )
