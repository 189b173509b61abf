"""One-sided calls of several libraries: a table for each question, with ratios to the fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.one_sided.model import QUESTIONS, LibraryAnswer, OneSidedQuestion
from steelyard.base.units import format_bytes, format_ratio, format_time
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.results.row_kinds import CALL_OPTIONS

USUAL = {"bytes": NOTHING, "ranks": "2", "placement": NOTHING, "threads": "1", "in flight": "1"}
_EXPLAINED = (
    "ratio: the time over that of the fastest library; of each library its fastest way, and the interval is "
    "that of these two, as if nobody had chosen them"
)


def one_sided_tables(questions: Sequence[OneSidedQuestion]) -> Iterator[Table]:
    """Make a table for each question, a line for each library at each size and place."""
    for name in QUESTIONS:
        if asked := [question for question in questions if question.name == name]:
            yield _table(name, asked)


def axes_beside_sizes(asked: Sequence[OneSidedQuestion]) -> dict[str, list[str]]:
    """Write for each question what tells it from others of its name and size."""
    return {
        "ranks": [str(question.ranks) for question in asked],
        "placement": [question.placement or NOTHING for question in asked],
        "threads": [str(question.threads) for question in asked],
        "in flight": [str(question.calls) for question in asked],
    }


def _table(name: str, asked: Sequence[OneSidedQuestion]) -> Table:
    sizes = [format_bytes(question.bytes) if question.bytes else NOTHING for question in asked]
    axes = {"bytes": sizes, **axes_beside_sizes(asked)}
    varying = {head: cells for head, cells in axes.items() if len(set(cells)) > 1}
    common = [
        f"{head} {cells[0]}"
        for head, cells in axes.items()
        if head not in varying and cells[0] != USUAL[head]
    ]
    return Table(
        title=f"one-sided: {name}",
        explained="; ".join([_EXPLAINED, *common]),
        columns=(
            *map(number, varying),
            words("library"),
            number("time"),
            number("ratio", strong=True),
            number("interval"),
            remark(),
        ),
        lines=tuple(
            Line((*(cells[i] for cells in varying.values()), *_cells(answer)))
            for i, question in enumerate(asked)
            for answer in question.answers
        ),
        grouped=len(varying),
    )


def _cells(answer: LibraryAnswer) -> tuple[str, ...]:
    return (
        answer.library,
        format_time(answer.time),
        format_ratio(answer.ratio),
        NOTHING
        if answer.low is None or answer.high is None
        else f"{format_ratio(answer.low)} – {format_ratio(answer.high)}",
        ", ".join(_way(answer)),
    )


def _way(answer: LibraryAnswer) -> Iterator[str]:
    """Name the fastest way where there were several, and what carried it."""
    if answer.ways > 1:
        yield f"best of {answer.ways} ways: {answer.op}"
        yield from (
            str(answer.params[name]) for name in CALL_OPTIONS if isinstance(answer.params.get(name), str)
        )
    if answer.transport is not None:
        yield f"by {answer.transport}"
