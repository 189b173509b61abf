"""Ranks a host as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.ranks_a_host.model import HostLink, RanksAHost
from steelyard.base.units import format_bytes, format_rate, format_time
from steelyard.render.table import NOTHING, Line, Table, number, remark
from steelyard.rows.labels import labels_of, method_facts, set_facts
from steelyard.rows.words import half_words

_EXPLAINED = (
    "all pairs between two hosts at once, by the ranks a host; rate: of all together; of line: the share of "
    "the stated line rate that its busier direction is"
)
_CANNOT_TELL = (
    "Nothing tells from how many ranks a host the link is full where no line says so: measure more ranks a "
    "host, in more launches."
)


def ranks_a_host_tables(links: Sequence[HostLink]) -> tuple[Table, ...]:
    """A line for each number of ranks a host; none without any."""
    if not links:
        return ()
    labels = labels_of(
        [{**method_facts(link.mpi, link.method, link.params), **set_facts("env", link.env)} for link in links]
    )
    lines = [
        Line((*labels.cells(i), format_bytes(link.bytes), *cells))
        for i, link in enumerate(links)
        for cells in _cells(link)
    ]
    return (
        Table(
            title="ranks a host",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("bytes"), number("a host"), number("time")),
                *(number("rate", strong=True), number("±"), number("of line"), remark()),
            ),
            lines=tuple(lines),
            notes=(_CANNOT_TELL,) if any(link.full is None for link in links) else (),
            grouped=len(labels.varying) + 1,
        ),
    )


def _cells(link: HostLink) -> Iterator[tuple[str, ...]]:
    for ranks in link.numbers:
        yield (
            str(ranks.per_host),
            format_time(ranks.time.value),
            format_rate(ranks.rate.value),
            half_words(ranks.rate.value, ranks.rate.low, ranks.rate.high),
            NOTHING if ranks.of_line is None else f"{100 * ranks.of_line:.2g} %",
            _full_words(link, ranks),
        )


def _full_words(link: HostLink, ranks: RanksAHost) -> str:
    if link.full is None or ranks.per_host != link.full.value:
        return ""
    low, high = link.full.low or 0.0, link.full.high or 0.0
    return "full from here" if low == high else f"full from here ({low:.0f} to {high:.0f})"
