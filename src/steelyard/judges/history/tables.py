"""A check as a table and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_factor
from steelyard.judges.compare.answer import FASTER, LITTLE, SAME, SLOWER
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


def check_table(found: Checked, margin: float) -> Table:
    """Make a line for each test case, and below the test cases of an op one for all of them."""
    lines = []
    for op in dict.fromkeys(one.op for one in found.points):
        mine = [one for one in (*found.points, *found.ops) if one.op == op]
        lines += [_line(one, margin) for one in mine]
    columns = (
        words("op"),
        words("case"),
        number("bytes"),
        number("ratio", True),
        number("from"),
        number("to"),
    )
    first, last = found.nights[0].name, found.nights[-2].name
    table = Table(
        f"{found.tonight} against {len(found.nights) - 1} nights, {first} to {last}",
        interval_words(found.level, found.quantile),
        (*columns, words("verdict"), remark()),
        tuple(lines),
        tuple(_notes(found)),
        grouped=1,
    )
    return without_empty(table) if all(not one.label for one in found.points) else table


def _line(one: NightVerdict, margin: float) -> Line:
    numbers = ratio_span(one.ratio, one.low, one.high)
    verdict = f"same within {100 * margin:g} %" if one.verdict == SAME else one.verdict
    return Line(
        (one.op, one.label, one.size or NOTHING, *numbers, verdict, _remark(one)), _TONES[one.verdict]
    )


def _remark(one: NightVerdict) -> str:
    parts = [one.why]
    if one.verdict == CANNOT_TELL and not one.why and one.confirmed is None:
        parts.append(_more_nights(one))
    if one.confirmed is not None:
        parts.append("confirmed" if one.confirmed else "not confirmed")
    elif one.suspected:
        parts.append("suspected, not confirmed" if one.verdict in (SLOWER, FASTER, LITTLE) else "suspected")
    return ", ".join(part for part in parts if part)


def _more_nights(one: NightVerdict) -> str:
    if one.nights_needed is None:
        return f"{one.nights} nights say little" if one.nights < _FEW_NIGHTS else "nights differ by more"
    more = one.nights_needed > one.nights
    return f"about {one.nights_needed} nights would decide" if more else "only --baseline would decide"


def _notes(found: Checked) -> Iterator[str]:
    yield f"{found.promise.words[0].upper()}{found.promise.words[1:]}."
    if found.common is not None:
        yield (
            f"Test cases without MPI take {found.common:.3f} times as long as in the nights before; all "
            "other ratios are divided by that."
        )
    if found.missing:
        yield f"Tonight lacks {counted(found.missing, 'test case')} of earlier nights."
    yield from zero_notes(found.zeros)
    yield from (f"Left out: {one.folder}: {one.why}." for one in found.left_out[:_NAMED])
    if len(found.left_out) > _NAMED:
        yield f"Left out: {len(found.left_out) - _NAMED} more."


def check_sentences(found: Checked) -> tuple[str, ...]:
    """Sum up: what is slower tonight, what changed when, and which settings differ."""
    return (*_tonight(found), *(_event(found, one) for one in events(found.changes)), *_suspected(found))


def _tonight(found: Checked) -> Iterator[str]:
    new = [
        one for one in found.points if one.verdict in (SLOWER, FASTER) and not one.why.startswith("since ")
    ]
    for verdict in (SLOWER, FASTER):
        mine = [one for one in new if one.verdict == verdict]
        for op in dict.fromkeys(one.op for one in mine):
            those = [one for one in mine if one.op == op]
            ratios = sorted(one.ratio for one in those if one.ratio is not None)
            sizes = _sizes(those, [one for one in found.points if one.op == op])
            of = "" if found.quantile is None else f"{quantile_name(found.quantile)} of "
            yield f"{of}{op} is {verdict} tonight ({_range(ratios)} times as long){sizes}."
    if new and found.settings:
        yield f"Since the night before changed: {_settings(found.settings)}."
    elif new:
        yield "No setting that is recorded changed since the night before."


def _suspected(found: Checked) -> Iterator[str]:
    """Count the test cases that are suspected and nothing worse: some are on any night."""
    count = sum(one.suspected and one.verdict in (SAME, CANNOT_TELL) for one in found.points)
    if count and all(one.confirmed is None for one in found.points):
        yield (
            f"{counted(count, 'test case')} of {len(found.points)} may be off tonight. By chance "
            f"{100 * SUSPECT:g} % are on any night."
        )


def events(changes: Sequence[LevelChange]) -> tuple[tuple[LevelChange, ...], ...]:
    """Group changes of test cases of one op, in one direction, at one date.

    If only the mean of an op shows a change, it is named instead.
    """
    groups: dict[tuple[str, str, bool], list[LevelChange]] = {}
    for one in changes:
        groups.setdefault((one.first, one.op, one.ratio > 1), []).append(one)
    told = []
    for group in groups.values():
        cases = [one for one in group if one.bytes is not None]
        told.append(tuple(cases or group))
    return tuple(told)


def _event(found: Checked, those: Sequence[LevelChange]) -> str:
    one = those[0]
    ratios = sorted(change.ratio for change in those)
    low, high = min(change.low for change in those), max(change.high for change in those)
    sizes = (
        _sizes(those, [case for case in found.points if case.op == one.op]) if one.bytes is not None else ""
    )
    when = f"between {one.last} ({_date(found, one.last)}) and {one.first} ({_date(found, one.first)})"
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


def _date(found: Checked, name: str) -> str:
    import datetime

    began = next(one.began_unix_ns for one in found.nights if one.name == name)
    return f"{datetime.datetime.fromtimestamp(began / 1e9, datetime.UTC):%Y-%m-%d %H:%M}"


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


def _settings(settings: Sequence[SettingChange]) -> str:
    told = [f"{one.name} from {_cut(one.before)} to {_cut(one.after)}" for one in settings[:_NAMED]]
    more = [f"{len(settings) - _NAMED} more"] if len(settings) > _NAMED else []
    return "; ".join((*told, *more))


def _range(ratios: Sequence[float]) -> str:
    low, high = map(format_factor, (ratios[0], ratios[-1]))
    return low if low == high else f"{low} to {high}"


def _sizes(those: Sequence[NightVerdict | LevelChange], mine: Iterable[NightVerdict]) -> str:
    count = len(list(mine))
    if len(those) == count:
        return ""
    names = [", ".join(part for part in (format_bytes(one.bytes or 0), one.label) if part) for one in those]
    return f" at {', '.join(names)}" if len(names) <= _NAMED else f" at {len(names)} of {count} test cases"
