"""Interfaces of ranks as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.rank_ports.model import PortUse
from steelyard.base.cpulist import cpu_words
from steelyard.base.plural import joined
from steelyard.base.units import format_bytes
from steelyard.render.table import Line, Table, remark, words
from steelyard.rows.host_words import hosts_words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts, set_facts

_EXPLAINED = "the network interfaces by which ranks are connected to others"


def port_tables(uses: Sequence[PortUse]) -> tuple[Table, ...]:
    """A line for the ranks of a test case that use the same; none where all use one that is near."""
    if not uses:
        return ()
    labels = labels_of([_facts(use) for use in uses])
    return (
        Table(
            title="interfaces of ranks",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(words("by"), words("ranks"), words("of"), remark()),
            ),
            lines=tuple(
                Line(
                    (
                        *labels.cells(i),
                        joined(use.names),
                        cpu_words(use.ranks),
                        hosts_words(use.hosts),
                        _remark(use),
                    )
                )
                for i, use in enumerate(uses)
            ),
            grouped=len(labels.varying),
        ),
    )


def _facts(use: PortUse) -> Facts:
    size = format_bytes(use.bytes)
    return {
        "op": Fact("op", use.op, use.op),
        "mpi": Fact("MPI", use.mpi or "", use.mpi or ""),
        "bytes": Fact("bytes", size, size),
        **set_facts("env", use.env),
        **param_facts(use.params, is_usual=True),
    }


def _remark(use: PortUse) -> str:
    said = [f"most others use {use.others}"] if use.others else []
    said += [f"far from their CPUs; near: {joined(use.near)}"] if use.near else []
    return "; ".join(said)
