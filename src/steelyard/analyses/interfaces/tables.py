"""Interfaces of hosts as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.interfaces.model import InterfaceUse
from steelyard.base.units import format_bytes, format_memory, format_rate, format_share
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.rows.host_words import hosts_words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts, where_facts

_EXPLAINED = (
    "what the network interface of a host moved in the busier direction in a launch, by its counters; rate: "
    "mean over set-up, warm-up, samples and checks, and its share of the stated line rate"
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
                *(words("by"), words("of"), number("moved"), number("rate", strong=True)),
                *(words("of the line"), remark()),
            ),
            lines=tuple(Line((*labels.cells(i), *_cells(use))) for i, use in enumerate(uses)),
            grouped=len(labels.varying),
        ),
    )


def _facts(use: InterfaceUse) -> Facts:
    size = format_bytes(use.bytes)
    return {
        "op": Fact("op", use.op, use.op),
        "mpi": Fact("MPI", use.mpi or "", use.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": Fact("ranks", str(use.ranks), f"{use.ranks} ranks"),
        **where_facts(use.placement, use.env),
        **param_facts(use.params, is_usual=True),
    }


def _cells(use: InterfaceUse) -> tuple[str, ...]:
    return (
        use.name,
        hosts_words(use.hosts),
        format_memory(max(use.received, use.sent)),
        format_rate(use.rate),
        _line_words(use),
        "" if use.others is None else f"most others use {use.others}",
    )


def _line_words(use: InterfaceUse) -> str:
    """Write the share of the line rate; nothing where the system states none."""
    if use.mbits is None or use.of_line is None:
        return NOTHING
    line = f"{use.mbits} Mb/s" if use.mbits < 1000 else f"{use.mbits / 1000:g} Gb/s"
    return f"{format_share(use.of_line)} of {line}"
