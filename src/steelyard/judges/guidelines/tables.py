"""A check of guidelines as tables and as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from steelyard.render.table import BAD, DIM, NOTHING, PLAIN, Line, Table, number, remark, without_empty, words
from steelyard.rows.words import ratio_span

_TONES = {VIOLATED: BAD, HOLDS: PLAIN, CANNOT_TELL: DIM}
_NAMED = 3  # items in a sentence; the rest is counted


def guideline_tables(found: CheckedGuidelines) -> Iterator[Table]:
    """Make a table of what is violated, a line for each case; then one of all guidelines."""
    if any(one.verdict == VIOLATED for one in found.points):
        worst = [one for one in found.points if one.verdict == VIOLATED]
        yield case_table("violated guidelines", found, worst)
    yield _summary(found)


def case_table(title: str, found: CheckedGuidelines, points: Sequence[GuidelineVerdict]) -> Table:
    """Make a table of cases with their ratios: the largest first within each guideline."""
    several = len({one.verdict for one in points}) > 1
    verdict = (words("verdict"),) if several else ()
    numbers = (number("bytes"), number("ratio", True), number("from"), number("to"))
    columns = (words("guideline"), words("case"), *numbers, *verdict, remark())
    lines = [
        Line(
            (
                one.words,
                one.what,
                NOTHING if one.bytes is None else format_bytes(one.bytes),
                *ratio_span(one.ratio, one.low, one.high),
                *([one.verdict] if several else []),
                f"about {one.launches_needed} launches would decide" if one.launches_needed else "",
            ),
            _TONES[one.verdict],
        )
        for one in points
    ]
    level = f"{100 * (1 - found.false_alarm):g} %"
    explained = f"time of the left side over that of the right, with simultaneous {level} bounds"
    return without_empty(Table(title, explained, columns, tuple(lines), grouped=1))


def _summary(found: CheckedGuidelines) -> Table:
    columns = (words("guideline"), number("cases"), number("violated", True), number("hold"))
    lines = []
    for name in dict.fromkeys(one.words for one in found.points):
        said = [one.verdict for one in found.points if one.words == name]
        counts = [said.count(verdict) for verdict in (VIOLATED, HOLDS, CANNOT_TELL)]
        tone = BAD if counts[0] else DIM if counts[2] else PLAIN
        cells = (name, str(len(said)), *(str(count) if count else NOTHING for count in counts))
        lines.append(Line(cells, tone))
    mpis = joined(one.mpi or "" for one in found.points)
    ranks = sorted({one.ranks for one in found.points})
    on = f"{joined(map(str, ranks))} {plural('rank', ranks[-1])}"
    title = f"guidelines of {mpis}, {on}" if mpis else f"guidelines, {on}"
    return Table(title, "", (*columns, number("cannot tell")), tuple(lines), _notes(found))


def _notes(found: CheckedGuidelines) -> tuple[str, ...]:
    notes = [f"{counted(found.launches, 'launch')}, both sides in each; {found.promise}."]
    if found.launches < found.least_launches:
        notes.append(
            f"Among {found.family} verdicts a violation needs {found.least_launches} launches at least: give "
            f"--launches {found.least_launches} or more, or fewer guidelines."
        )
    notes += [f"Not checked: {words}." for words in found.missing[:_NAMED]]
    if len(found.missing) > _NAMED:
        notes.append(f"Not checked: {len(found.missing) - _NAMED} more.")
    return tuple(notes)


def guideline_sentences(found: CheckedGuidelines) -> Iterator[str]:
    """Sum up: each violated guideline with its factor, sizes and remedy; then the rest."""
    bad = [one for one in found.points if one.verdict == VIOLATED]
    for key in dict.fromkeys((one.words, one.mpi) for one in bad):
        yield _violation([one for one in bad if (one.words, one.mpi) == key])
    said = [one.verdict for one in found.points]
    of = f"{len(said)} {'case' if len(said) == 1 else 'cases'}"
    parts = [
        f"{said.count(verdict)} {verb}"
        for verdict, verb in ((VIOLATED, "violated"), (HOLDS, "hold"), (CANNOT_TELL, "undecided"))
        if verdict in said
    ]
    needed = [one.launches_needed for one in found.points if one.verdict == CANNOT_TELL]
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


def judged_guidelines(found: CheckedGuidelines) -> Iterator[Judged]:
    """List the verdicts with the ratio that each is about."""
    for one in found.points:
        ends = ", ".join(ratio_span(one.ratio, one.low, one.high))
        name = f"{case_words(one)} on {counted(one.ranks, 'rank')}"
        yield Judged(one.left, name, one.verdict, f"ratio, from, to: {ends}")
