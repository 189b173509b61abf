"""Interfaces of hosts as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.interfaces.model import InterfaceUse
from steelyard.base.units import format_bytes, format_memory, format_rate
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.rows.host_words import hosts_words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts

_EXPLAINED = (
    "what the network interface of a host moved in a launch of a test case, by its counters; rate: mean "
    "over set-up, warm-up, samples and checks; of line: its share of the line rate that the system states"
)


def interface_tables(uses: Sequence[InterfaceUse]) -> tuple[Table, ...]:
    """A line for each interface and test case; none without any."""
    if not uses:
        return ()
    labels = labels_of([_facts(use) for use in uses])
    return (
        Table(
            title="network interfaces",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(words("by"), words("of"), number("received"), number("sent"), number("rate", strong=True)),
                *(number("line"), number("of line"), remark()),
            ),
            lines=tuple(Line((*labels.cells(i), *_cells(use))) for i, use in enumerate(uses)),
            grouped=len(labels.varying),
        ),
    )


def _facts(use: InterfaceUse) -> Facts:
    size, placed = format_bytes(use.bytes), use.placement or ""
    return {
        "op": Fact("op", use.op, use.op),
        "mpi": Fact("MPI", use.mpi or "", use.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": Fact("ranks", str(use.ranks), f"{use.ranks} ranks"),
        "placement": Fact("placement", placed, f"placement {placed}" if placed else ""),
        **param_facts(use.params, is_usual=True),
    }


def _cells(use: InterfaceUse) -> tuple[str, ...]:
    return (
        use.name,
        hosts_words(use.hosts),
        format_memory(round(use.received)),
        format_memory(round(use.sent)),
        format_rate(use.rate),
        NOTHING if use.mbits is None else _line_words(use.mbits),
        NOTHING if use.of_line is None else f"{100 * use.of_line:.2g} %",
        "" if use.others is None else f"most others use {use.others}",
    )


def _line_words(mbits: int) -> str:
    return f"{mbits} Mbit/s" if mbits < 1000 else f"{mbits / 1000:g} Gbit/s"
