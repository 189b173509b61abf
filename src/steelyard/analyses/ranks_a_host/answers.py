"""From how many ranks a host the link between two hosts is full, in a sentence for each library and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import is_certain, of_mpi, span_words
from steelyard.analyses.ranks_a_host.model import HostLink, RanksAHost
from steelyard.base.plural import joined
from steelyard.base.units import format_bytes, format_rate, format_values
from steelyard.stats import Interval


def host_link_answers(links: Sequence[HostLink]) -> Iterator[str]:
    """`Between two hosts, pairs of Open MPI 4.1.4: full at 64 KiB from 2 (1 to 4) ranks a host, up to ...`"""
    groups: dict[tuple[str | None, str, str], list[HostLink]] = {}
    for link in links:
        setting = format_values({**link.params, **link.env})
        groups.setdefault((link.mpi, link.op, setting), []).append(link)
    for (mpi, _, setting), cases in groups.items():
        what = ", ".join(filter(None, (f"Between two hosts, pairs{of_mpi(mpi)}", setting)))
        parts = [_full_words(link, link.full) for link in cases if link.full is not None]
        if untold := [format_bytes(link.bytes) for link in cases if link.full is None]:
            parts.append(f"cannot tell at {joined(untold)} from how many ranks a host the link is full")
        yield f"{what}: {'; '.join(parts)}."


def _full_words(link: HostLink, full: Interval) -> str:
    best = max((ranks for ranks in link.numbers if is_certain(ranks.rate)), key=_rate, default=None)
    reached = f", up to {format_rate(best.rate.value)} with {best.per_host}" if best else ""
    return f"full at {format_bytes(link.bytes)} from {span_words(full, _count)} ranks a host{reached}"


def _rate(ranks: RanksAHost) -> float:
    return ranks.rate.value


def _count(number: float) -> str:
    return f"{number:.0f}"
