"""The noise of each core, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.results.core_noise import CoreNoise, fundamentals
from steelyard.results.facets import Cores
from steelyard.results.row import Row
from steelyard.rows.labels import op_with_facts, row_labels


def core_tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Make a line for each core that the noise ops watched."""
    told = [row for row in rows if row.get(Cores).cores]
    if not told:
        return
    labels = row_labels(told)
    yield Table(
        "noise of each core",
        ", ".join(labels.common.values()),
        (
            words("op"),
            *map(number, ("rank", "CPUs", "watched", "lost", "per second", "longest")),
            words("periods"),
        ),
        plain_lines(
            (op_with_facts(labels, i, row.op), *_core_cells(core))
            for i, row in enumerate(told)
            for core in row.get(Cores).cores
        ),
        grouped=1,
    )


def _core_cells(core: CoreNoise) -> tuple[str, ...]:
    periods = ", ".join(
        f"{peak.hz:.4g} Hz" + (f" and {counted(multiples, 'multiple')}" if multiples else "")
        for peak, multiples in fundamentals(core.peaks)
    )
    return (
        str(core.rank),
        core.cpus,
        f"{core.seconds:.3g} s",
        f"{100 * core.share:.3g} %",
        f"{core.per_second:.4g}",
        format_time(core.longest_ns),
        periods,
    )
