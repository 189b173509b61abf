"""A check as a table and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.base.plural import counted
from steelyard.base.printable import ended
from steelyard.base.units import format_bytes, format_factor
from steelyard.judges.compare.scale import FASTER, LITTLE, SAME, SLOWER
from steelyard.judges.compare.tables import interval_words, zero_notes
from steelyard.judges.history.verdicts import SUSPECT, Checked, LevelChange, NightVerdict, SettingChange
from steelyard.judges.verdict import CANNOT_TELL
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
from steelyard.rows.words import ratio_span

_TONES = {SLOWER: BAD, FASTER: PLAIN, LITTLE: WARN, SAME: PLAIN, CANNOT_TELL: DIM}
_FEW_NIGHTS = 10  # with fewer nights, their number makes the interval wide
_LONGEST = 60  # letters of a setting's value: longer ones are cut
_NAMED = 3  # folders, settings or sizes in a sentence; the rest is counted


def check_table(checked: Checked, margin: float) -> Table:
    """Make a line for each test case, and below the test cases of an op one for all of them."""
    lines = []
    for op in dict.fromkeys(point.op for point in checked.points):
        mine = [case for case in (*checked.points, *checked.ops) if case.op == op]
        lines += [_line(case, margin) for case in mine]
    columns = (
        words("op"),
        words("case"),
        number("bytes"),
        number("ratio", True),
        number("from"),
        number("to"),
    )
    first, last = checked.nights[0].name, checked.nights[-2].name
    table = Table(
        f"{checked.tonight} against {len(checked.nights) - 1} nights, {first} to {last}",
        interval_words(checked.level, checked.quantile),
        (*columns, words("verdict"), remark()),
        tuple(lines),
        tuple(_notes(checked)),
        grouped=1,
    )
    return without_empty(table) if all(not point.label for point in checked.points) else table


def _line(case: NightVerdict, margin: float) -> Line:
    numbers = ratio_span(case.ratio, case.low, case.high)
    verdict = f"same within {100 * margin:g} %" if case.verdict == SAME else case.verdict
    return Line(
        (case.op, case.label, case.size or NOTHING, *numbers, verdict, _remark(case)), _TONES[case.verdict]
    )


def _remark(verdict: NightVerdict) -> str:
    parts = [verdict.why]
    if verdict.verdict == CANNOT_TELL and not verdict.why and verdict.confirmed is None:
        parts.append(_more_nights(verdict))
    if verdict.confirmed is not None:
        parts.append("confirmed" if verdict.confirmed else "not confirmed")
    elif verdict.suspected:
        parts.append(
            "suspected, not confirmed" if verdict.verdict in (SLOWER, FASTER, LITTLE) else "suspected"
        )
    return ", ".join(part for part in parts if part)


def _more_nights(verdict: NightVerdict) -> str:
    if verdict.nights_needed is None:
        return (
            f"{verdict.nights} nights say little" if verdict.nights < _FEW_NIGHTS else "nights differ by more"
        )
    more = verdict.nights_needed > verdict.nights
    return f"about {verdict.nights_needed} nights would decide" if more else "only --baseline would decide"


def _notes(checked: Checked) -> Iterator[str]:
    yield f"{checked.promise.words[0].upper()}{checked.promise.words[1:]}."
    if checked.common is not None:
        yield (
            f"Test cases without MPI take {checked.common:.3f} times as long as in the nights before; all "
            "other ratios are divided by that."
        )
    if checked.missing:
        yield f"Tonight lacks {counted(checked.missing, 'test case')} of earlier nights."
    yield from zero_notes(checked.zeros)
    yield from (ended(f"Left out: {reason.folder}: {reason.why}") for reason in checked.left_out[:_NAMED])
    if len(checked.left_out) > _NAMED:
        yield f"Left out: {len(checked.left_out) - _NAMED} more."


def check_sentences(checked: Checked) -> tuple[str, ...]:
    """Sum up: what is slower tonight, what changed when, and which settings differ."""
    return (
        *_tonight(checked),
        *(_event(checked, event) for event in events(checked.changes)),
        *_suspected(checked),
    )


def _tonight(checked: Checked) -> Iterator[str]:
    new = [
        point
        for point in checked.points
        if point.verdict in (SLOWER, FASTER) and not point.why.startswith("since ")
    ]
    for verdict in (SLOWER, FASTER):
        mine = [case for case in new if case.verdict == verdict]
        for op in dict.fromkeys(case.op for case in mine):
            those = [case for case in mine if case.op == op]
            ratios = sorted(case.ratio for case in those if case.ratio is not None)
            sizes = _sizes(those, [point for point in checked.points if point.op == op])
            of = "" if checked.quantile is None else f"{quantile_name(checked.quantile)} of "
            yield f"{of}{op} is {verdict} tonight ({_range(ratios)} times as long){sizes}."
    if new and checked.settings:
        yield f"Since the night before changed: {_settings(checked.settings)}."
    elif new:
        yield "No setting that is recorded changed since the night before."


def _suspected(checked: Checked) -> Iterator[str]:
    """Count the test cases that are suspected and nothing worse: some are on any night."""
    count = sum(point.suspected and point.verdict in (SAME, CANNOT_TELL) for point in checked.points)
    if count and all(point.confirmed is None for point in checked.points):
        yield (
            f"{counted(count, 'test case')} of {len(checked.points)} may be off tonight. By chance "
            f"{100 * SUSPECT:g} % are on any night."
        )


def events(changes: Sequence[LevelChange]) -> tuple[tuple[LevelChange, ...], ...]:
    """Group changes of test cases of one op, in one direction, at one date.

    If only the mean of an op shows a change, it is named instead.
    """
    groups: dict[tuple[str, str, bool], list[LevelChange]] = {}
    for change in changes:
        groups.setdefault((change.first, change.op, change.ratio > 1), []).append(change)
    grouped = []
    for group in groups.values():
        cases = [change for change in group if change.bytes is not None]
        grouped.append(tuple(cases or group))
    return tuple(grouped)


def _event(checked: Checked, those: Sequence[LevelChange]) -> str:
    one = those[0]
    ratios = sorted(change.ratio for change in those)
    low, high = min(change.low for change in those), max(change.high for change in those)
    sizes = (
        _sizes(those, [case for case in checked.points if case.op == one.op]) if one.bytes is not None else ""
    )
    when = f"between {one.last} ({_date(checked, one.last)}) and {one.first} ({_date(checked, one.first)})"
    text = (
        f"{one.op} became {'slower' if one.ratio > 1 else 'faster'} {when}: {_range(ratios)} times as long, "
    )
    text += f"from {format_factor(low)} to {format_factor(high)}{sizes}"
    if one.earliest != one.latest:
        text += f"; the first such night is one of {one.earliest} to {one.latest}"
    settings = _settings(one.settings)
    return (
        f"{text}. {f'Changed then: {settings}.' if settings else 'No setting that is recorded changed then.'}"
    )


def _date(checked: Checked, name: str) -> str:
    import datetime

    began = next(night.began_unix_ns for night in checked.nights if night.name == name)
    return f"{datetime.datetime.fromtimestamp(began / 1e9, datetime.UTC):%Y-%m-%d %H:%M}"


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


def _settings(settings: Sequence[SettingChange]) -> str:
    named = [
        f"{setting.name} from {_cut(setting.before)} to {_cut(setting.after)}"
        for setting in settings[:_NAMED]
    ]
    more = [f"{len(settings) - _NAMED} more"] if len(settings) > _NAMED else []
    return "; ".join((*named, *more))


def _range(ratios: Sequence[float]) -> str:
    low, high = map(format_factor, (ratios[0], ratios[-1]))
    return low if low == high else f"{low} to {high}"


def _sizes(those: Sequence[NightVerdict | LevelChange], mine: Iterable[NightVerdict]) -> str:
    count = len(list(mine))
    if len(those) == count:
        return ""
    names = [
        ", ".join(part for part in (format_bytes(case.bytes or 0), case.label) if part) for case in those
    ]
    return f" at {', '.join(names)}" if len(names) <= _NAMED else f" at {len(names)} of {count} test cases"
