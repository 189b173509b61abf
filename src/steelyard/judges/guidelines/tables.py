"""A check of guidelines as tables and as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.base.plural import counted, joined, plural
from steelyard.base.units import format_bytes, format_factor
from steelyard.judges.guidelines.verdicts import (
    HOLDS,
    VIOLATED,
    CheckedGuidelines,
    GuidelineVerdict,
    case_words,
)
from steelyard.judges.verdict import CANNOT_TELL, Judged
from steelyard.records.command_line import resumed
from steelyard.render.table import BAD, DIM, NOTHING, PLAIN, Line, Table, number, remark, without_empty, words
from steelyard.rows.words import ratio_span

_TONES = {VIOLATED: BAD, HOLDS: PLAIN, CANNOT_TELL: DIM}
_NAMED = 3  # items in a sentence; the rest is counted


def guideline_tables(guidelines: CheckedGuidelines, folder: Path | None = None) -> Iterator[Table]:
    """Make a table of what is violated, a line for each case; then one of all guidelines.

    `folder` is where they were measured, if more can be measured there.
    """
    if any(point.verdict == VIOLATED for point in guidelines.points):
        worst = [point for point in guidelines.points if point.verdict == VIOLATED]
        yield case_table("violated guidelines", guidelines, worst)
    yield _summary(guidelines, folder)


def case_table(title: str, guidelines: CheckedGuidelines, points: Sequence[GuidelineVerdict]) -> Table:
    """Make a table of cases with their ratios: the largest first within each guideline."""
    several = len({point.verdict for point in points}) > 1
    verdict = (words("verdict"),) if several else ()
    numbers = (number("bytes"), number("ratio", True), number("from"), number("to"))
    columns = (words("guideline"), words("case"), *numbers, *verdict, remark())
    lines = [
        Line(
            (
                point.words,
                point.what,
                NOTHING if point.bytes is None else format_bytes(point.bytes),
                *ratio_span(point.ratio, point.low, point.high),
                *([point.verdict] if several else []),
                f"about {point.launches_needed} launches would decide" if point.launches_needed else "",
            ),
            _TONES[point.verdict],
        )
        for point in points
    ]
    level = f"{100 * (1 - guidelines.false_alarm):g} %"
    explained = f"time of the left side over that of the right, with simultaneous {level} bounds"
    return without_empty(Table(title, explained, columns, tuple(lines), grouped=1))


def _summary(guidelines: CheckedGuidelines, folder: Path | None) -> Table:
    columns = (words("guideline"), number("cases"), number("violated", True), number("hold"))
    lines = []
    for name in dict.fromkeys(point.words for point in guidelines.points):
        said = [point.verdict for point in guidelines.points if point.words == name]
        counts = [said.count(verdict) for verdict in (VIOLATED, HOLDS, CANNOT_TELL)]
        tone = BAD if counts[0] else DIM if counts[2] else PLAIN
        cells = (name, str(len(said)), *(str(count) if count else NOTHING for count in counts))
        lines.append(Line(cells, tone))
    mpis = joined(point.mpi or "" for point in guidelines.points)
    ranks = sorted({point.ranks for point in guidelines.points})
    on = f"{joined(map(str, ranks))} {plural('rank', ranks[-1])}"
    title = f"guidelines of {mpis}, {on}" if mpis else f"guidelines, {on}"
    return Table(title, "", (*columns, number("cannot tell")), tuple(lines), _notes(guidelines, folder))


def _notes(guidelines: CheckedGuidelines, folder: Path | None) -> tuple[str, ...]:
    notes = [f"{counted(guidelines.launches, 'launch')}, both sides in each; {guidelines.promise}."]
    if guidelines.launches < guidelines.least_launches:
        least = guidelines.least_launches
        notes.append(
            f"Among {guidelines.family} verdicts a violation needs {least} launches at least"
            + (f": {resumed(folder, launches=str(least))}" if folder else ".")
        )
    notes += [f"Not checked: {words}." for words in guidelines.missing[:_NAMED]]
    if len(guidelines.missing) > _NAMED:
        notes.append(f"Not checked: {len(guidelines.missing) - _NAMED} more.")
    return tuple(notes)


def guideline_sentences(guidelines: CheckedGuidelines) -> Iterator[str]:
    """Sum up: each violated guideline with its factor, sizes and remedy; then the rest."""
    bad = [point for point in guidelines.points if point.verdict == VIOLATED]
    for key in dict.fromkeys((one.words, one.mpi) for one in bad):
        yield _violation([one for one in bad if (one.words, one.mpi) == key])
    said = [point.verdict for point in guidelines.points]
    of = f"{len(said)} {'case' if len(said) == 1 else 'cases'}"
    parts = [
        f"{said.count(verdict)} {verb}"
        for verdict, verb in ((VIOLATED, "violated"), (HOLDS, "hold"), (CANNOT_TELL, "undecided"))
        if verdict in said
    ]
    needed = [point.launches_needed for point in guidelines.points if point.verdict == CANNOT_TELL]
    known = [one for one in needed if one is not None]
    launches = f"{min(known)} to {max(known)}" if len(set(known)) > 1 else f"{max(known, default=0)}"
    more = f" (about {launches} launches would decide)" if known else ""
    yield f"Guidelines: {of}: {', '.join(parts)}{more}."


def _violation(mine: Sequence[GuidelineVerdict]) -> str:
    first = mine[0]
    ratios = sorted(one.ratio for one in mine if one.ratio is not None)
    low, high = map(format_factor, (ratios[0], ratios[-1]))
    span = low if low == high else f"{low} to {high}"
    # what a program does and what a library is told may differ from size to size
    remedies = joined(one.remedy for one in mine) if len({one.remedy for one in mine}) <= _NAMED else ""
    knob = f"; or set {first.knob}" if first.knob else ""
    whose = f"{first.mpi}: " if first.mpi else ""
    where = _where(mine)
    todo = f" To do: {remedies or first.remedy}{knob}."
    return f"{whose}{first.words} is violated{where}: the left side takes {span} times as long.{todo}"


def _where(mine: Sequence[GuidelineVerdict]) -> str:
    sizes = [format_bytes(one.bytes) for one in mine if one.bytes is not None]
    if not sizes:
        return ""
    return f" at {joined(sizes)}" if len(set(sizes)) <= _NAMED else f" in {len(mine)} cases"


def judged_guidelines(guidelines: CheckedGuidelines) -> Iterator[Judged]:
    """List the verdicts with the ratio that each is about."""
    for point in guidelines.points:
        ends = ", ".join(ratio_span(point.ratio, point.low, point.high))
        name = f"{case_words(point)} on {counted(point.ranks, 'rank')}"
        yield Judged(point.left, name, point.verdict, f"ratio, from, to: {ends}")
