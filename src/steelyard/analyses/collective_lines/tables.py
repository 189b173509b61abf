"""The lines of collectives over their sizes, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.answer_words import is_certain, sure_words
from steelyard.analyses.collective_lines.model import CollectiveLine, CollectiveLines
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts
from steelyard.stats import Interval


def collective_tables(all_lines: Sequence[CollectiveLines]) -> tuple[Table, ...]:
    """Make a line for each line of each collective that changes or matches an algorithm; none without any."""
    told = [
        lines for lines in all_lines if len(lines.lines) > 1 or any(line.algorithm for line in lines.lines)
    ]
    if not told:
        return ()
    labels = labels_of([_facts(one) for one in told])
    return (
        Table(
            title="lines of collectives",
            explained=", ".join(("start + s slope, a new line where it changes", *labels.common.values())),
            columns=(
                words("op"),
                *(axis.column for axis in labels.varying),
                words("blocks"),
                *map(number, ("start", "ns/byte", "rounds", "passes")),
                words("as"),
            ),
            lines=plain_lines(
                (one.op, *labels.cells(i), *_cells(line)) for i, one in enumerate(told) for line in one.lines
            ),
            notes=(
                "rounds, passes: start and slope over those of a message; as: the algorithm with that cost",
            ),
            grouped=1 + len(labels.varying),
        ),
    )


def _facts(lines: CollectiveLines) -> Facts:
    return {
        "mpi": Fact("MPI", lines.mpi or "", lines.mpi or ""),
        "ranks": count_fact("rank", lines.ranks),
        "method": Fact("method", lines.method, f"method {lines.method}", is_usual=True),
        **param_facts(lines.params, is_usual=True),
    }


def _cells(line: CollectiveLine) -> tuple[str, ...]:
    return (
        f"from {format_bytes(line.piece.least)}",
        sure_words(line.piece.start, format_time),
        sure_words(line.piece.gap, lambda value: f"{value:.3g}"),
        *(
            NOTHING if value is None or not _is_told(span) else f"{value:.2g}"
            for value, span in ((line.rounds, line.piece.start), (line.passes, line.piece.gap))
        ),
        line.algorithm or NOTHING,
    )


def _is_told(span: Interval) -> bool:
    """May a multiple of it be told? Not if its own interval says little."""
    return span.low is None or is_certain(span)
