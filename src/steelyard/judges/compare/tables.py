"""A comparison as a table and as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from steelyard.base.plural import counted, plural
from steelyard.base.printable import ended
from steelyard.base.units import format_factor
from steelyard.judges.compare.scale import FASTER, LITTLE, SAME, SLOWER
from steelyard.judges.compare.verdicts import CaseVerdict, Verdicts
from steelyard.judges.verdict import CANNOT_TELL, Judged
from steelyard.render.table import (
    BAD,
    DIM,
    NOTHING,
    PLAIN,
    WARN,
    Line,
    Table,
    number,
    remark,
    without_empty,
    words,
)
from steelyard.results.quantiles import quantile_name
from steelyard.rows.short_names import short_names
from steelyard.rows.words import half_words, needs_words, percent_words, ratio_span, rounded

_TONES = {SLOWER: BAD, FASTER: PLAIN, LITTLE: WARN, SAME: PLAIN, CANNOT_TELL: DIM}
_NAMED = 3  # sizes of an op in a sentence; more are given as a range


def with_short_names(verdicts: Verdicts) -> Verdicts:
    """Shorten arms that are named by paths to the parts that differ."""
    names = short_names(verdicts.arms)
    points, ops = (
        tuple(replace(one, a=names[one.a], b=names[one.b]) for one in each)
        for each in (verdicts.points, verdicts.ops)
    )
    return replace(verdicts, arms=tuple(names[arm] for arm in verdicts.arms), points=points, ops=ops)


def verdict_table(verdicts: Verdicts, margin: float) -> Table:
    """Make a line for each test case, and below the sizes of an op one for all of them."""
    several = len(verdicts.arms) > 2
    lines = []
    for op in dict.fromkeys(point.op for point in verdicts.points):
        mine = [point for point in verdicts.points if point.op == op]
        whole = [one for one in verdicts.ops if one.op == op] if len(mine) > len(verdicts.arms) - 1 else []
        lines += [_line(one, several, margin, verdicts.precision) for one in (*mine, *whole)]
    said = (words("op"), words("test case"), *([words("rival")] if several else []))
    columns = (*said, number("bytes"), number("ratio", True))
    table = Table(
        f"{' and '.join(verdicts.arms[1:])} against {verdicts.arms[0]}",
        interval_words(verdicts.level, verdicts.quantile),
        (*columns, number("from"), number("to"), words("verdict"), remark()),
        tuple(lines),
        _notes(verdicts),
        grouped=1,
    )
    return without_empty(table)


def interval_words(level: float, quantile: float | None = None) -> str:
    """Explain the numbers: `ratio of the launches' medians, with simultaneous 99 % intervals`."""
    of = "medians" if quantile is None else quantile_name(quantile)
    return f"ratio of the launches' {of}, with simultaneous {100 * level:g} % intervals"


def _line(case: CaseVerdict, several: bool, margin: float, precision: float | None) -> Line:
    numbers = ratio_span(case.ratio, case.low, case.high)
    verdict = verdict_words(case.verdict, margin)
    arm = (case.b,) if several else ()
    first = (case.op, case.what, *arm, case.size or NOTHING)
    return Line((*first, *numbers, verdict, _remark(case, precision)), _TONES[case.verdict])


def verdict_words(verdict: str, margin: float) -> str:
    """Write a verdict with its margin: `same within 5 %`."""
    return f"same within {100 * margin:g} %" if verdict == SAME else verdict


def _remark(verdict: CaseVerdict, precision: float | None) -> str:
    if precision is not None and verdict.precise is not None:
        precise = f"{percent_words(precision)} reached"
        if not verdict.precise:
            half = half_words(verdict.ratio, verdict.low, verdict.high)
            precise = f"±{half}, {needs_words(precision, verdict.launches_precise, None)}"
        return ", ".join(text for text in (verdict.why, precise) if text)
    needed = (
        f"about {rounded(verdict.launches_needed)} launches would decide" if verdict.launches_needed else ""
    )
    return ", ".join(text for text in (verdict.why, needed) if text)


def _notes(verdicts: Verdicts) -> tuple[str, ...]:
    taken = ", alternately" if verdicts.by_turns else ""
    notes = [f"{verdicts.launches} launches of each{taken}; {verdicts.promise.words}."]
    if not verdicts.by_turns and any(point.verdict == CANNOT_TELL for point in verdicts.points):
        notes.append(
            "More launches would not decide: hours are too few. Launches by turns would: run --arms."
        )
    if verdicts.variables:
        notes.append(f"The rivals differ in --env ({'; '.join(verdicts.variables)}).")
    if verdicts.despite:
        notes.append(f"The rivals also differ in {'; '.join(verdicts.despite)}.")
    if verdicts.apart:
        which = f"{plural('launch', len(verdicts.apart))} {', '.join(map(str, verdicts.apart))}"
        notes.append(f"Left out: {which}, whose rivals were not measured one after the other.")
    notes += _few_of([f"Failed, and left out: {case}." for case in verdicts.failed], "failed")
    notes += zero_notes(verdicts.zeros)
    if verdicts.missing:
        notes.append(f"{verdicts.missing} test cases were not measured for all rivals.")
    notes += _few_of([ended(f"Not compared: {why}") for why in verdicts.refused], "are not compared")
    return tuple(notes)


def _few_of(sentences: Sequence[str], what: str) -> list[str]:
    """Keep the first of the sentences, and count the others."""
    more = len(sentences) - _NAMED
    return [*sentences[:_NAMED], *([f"{more} more {what}."] if more > 0 else [])]


def zero_notes(zeros: Sequence[str]) -> list[str]:
    """Write sentences about launches below the resolution of their timer."""
    why = "a median of 0, less than the timer can tell"
    notes = [ended(f"Left out: {zero}: {why}") for zero in zeros[:_NAMED]]
    return [*notes, *([f"Left out: {len(zeros) - _NAMED} more such."] if len(zeros) > _NAMED else [])]


def verdict_sentences(verdicts: Verdicts, margin: float, most_ops: int | None = None) -> tuple[str, ...]:
    """Sum up: a sentence for each arm and op, or for all if ops are many."""
    ops = list(dict.fromkeys(point.op for point in verdicts.points))
    groups: dict[str, tuple[str, ...]] = {op: (op,) for op in ops}
    if most_ops is not None and len(ops) > most_ops:
        groups = {f"{len(ops)} operations": tuple(ops)}
    sentences = []
    for arm in verdicts.arms[1:]:
        for name, own in groups.items():
            mine = [point for point in verdicts.points if point.op in own and point.b == arm]
            if mine:
                what = name if verdicts.quantile is None else f"{quantile_name(verdicts.quantile)} of {name}"
                sentences.append(f"{what}: {arm} {_clauses(mine, verdicts.arms[0], margin)}.")
    return tuple(sentences)


def _clauses(mine: list[CaseVerdict], base: str, margin: float) -> str:
    """Write `is slower than a (1.2 times as long) at 1 KiB, cannot tell at 8 B`; the base is named once."""
    said = {
        SLOWER: ("is slower than", "slower"),
        FASTER: ("is faster than", "faster"),
        LITTLE: ("differs a little from", "differs a little"),
        SAME: (f"is within {100 * margin:g} % of", f"within {100 * margin:g} %"),
        CANNOT_TELL: ("may or may not differ from", "cannot tell"),
    }
    parts: list[str] = []
    for verdict, (first, later) in said.items():
        those = [one for one in mine if one.verdict == verdict]
        if those:
            words = later if parts else f"{first} {base}"
            where = _sizes(those, mine, is_first=not parts)
            parts.append(f"{words}{_factor(those, verdict)}{where}{would_decide(those)}")
    return ", ".join(parts)


def _factor(those: list[CaseVerdict], verdict: str) -> str:
    ratios = sorted(one.ratio for one in those if one.ratio is not None)
    if verdict not in (SLOWER, FASTER) or not ratios:
        return ""
    low, high = map(format_factor, (ratios[0], ratios[-1]))
    return f" ({low} times as long)" if low == high else f" ({low} to {high} times as long)"


def would_decide(those: Sequence[CaseVerdict]) -> str:
    """Write ` (about 25 launches of each would decide)`, if all have a number."""
    needed = [one.launches_needed or 0 for one in those]
    return f" (about {rounded(max(needed))} launches of each would decide)" if needed and all(needed) else ""


def _sizes(those: list[CaseVerdict], mine: list[CaseVerdict], is_first: bool) -> str:
    """Write ` at 8 B, 1 KiB`, ` at 4 of 9 sizes`, ` in 4 of 18 test cases`; the total is named once."""
    if len(those) == len(mine):
        return ""
    several = len({(one.op, one.what) for one in mine}) > 1
    if not several and len(those) <= _NAMED:
        return f" at {', '.join(one.size for one in those)}"
    whole = f" of {len(mine)} {'test cases' if several else 'sizes'}" if is_first else ""
    return f" {'in' if several else 'at'} {len(those)}{whole or (' sizes' if not several else '')}"


def judged_cases(points: Sequence[CaseVerdict]) -> Iterator[Judged]:
    """List the verdicts on test cases with their ratios, or why there is none."""
    for point in points:
        name = (
            f"{point.op} {point.size}".rstrip()
            + f" on {counted(point.ranks, 'rank')}: {point.b} against {point.a}"
        )
        ratio, low, high = ratio_span(point.ratio, point.low, point.high)
        has_ratio = None not in (point.ratio, point.low, point.high)
        why = f"ratio {ratio}, from {low} to {high}" if has_ratio else point.why
        yield Judged(point.op, name, point.verdict, why)
