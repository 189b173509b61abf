"""One-sided calls of several libraries: a table for each question, with ratios to the fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.one_sided.model import QUESTIONS, Answer, Question
from steelyard.analyses.ranking.model import OPTIONS
from steelyard.base.units import format_bytes, format_ratio, format_time
from steelyard.render.table import NOTHING, Line, Table, number, remark, words

_EXPLAINED = "ratio: the time over that of the fastest library; of each library its fastest way"


def one_sided_tables(found: Sequence[Question]) -> Iterator[Table]:
    """Make a table for each question, a line for each library at each size and number of threads."""
    for name in QUESTIONS:
        own = [one for one in found if one.name == name]
        if own:
            yield _table(name, own)


def _table(name: str, own: Sequence[Question]) -> Table:
    told = {
        "bytes": ([format_bytes(one.bytes) if one.bytes else NOTHING for one in own], "bytes"),
        "threads": ([str(one.threads) for one in own], "threads"),
        "calls": ([str(one.calls) for one in own], "in flight"),
    }
    varying = [(cells, head) for cells, head in told.values() if len(set(cells)) > 1]
    fixed = [f"{head} {cells[0]}" for cells, head in told.values() if set(cells) not in ({"1"}, {NOTHING})]
    common = [] if len(own) > 1 else fixed
    return Table(
        title=f"one-sided: {name}",
        explained="; ".join([_EXPLAINED, *common]),
        columns=(
            *(number(head) for _, head in varying),
            words("library"),
            number("time"),
            number("ratio", strong=True),
            number("interval"),
            remark(),
        ),
        lines=tuple(
            Line((*(cells[i] for cells, _ in varying), *_cells(answer)))
            for i, one in enumerate(own)
            for answer in one.answers
        ),
        grouped=len(varying),
    )


def _cells(one: Answer) -> tuple[str, ...]:
    return (
        one.library,
        format_time(one.time),
        format_ratio(one.ratio),
        NOTHING
        if one.low is None or one.high is None
        else f"{format_ratio(one.low)} – {format_ratio(one.high)}",
        ", ".join(_way(one)),
    )


def _way(one: Answer) -> Iterator[str]:
    """Name the fastest way where there were several, and what carried it."""
    if one.ways > 1:
        yield f"best of {one.ways} ways: {one.op}"
        yield from (str(one.params[name]) for name in OPTIONS if isinstance(one.params.get(name), str))
    if one.transport is not None:
        yield f"by {one.transport}"
