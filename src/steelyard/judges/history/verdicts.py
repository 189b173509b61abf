"""Tonight's verdicts against the nights before, and the dates of changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.judges.compare.scale import COMPARED, FASTER, LITTLE, SAME, SLOWER, Question
from steelyard.judges.compare.verdicts import CaseVerdict, Promise
from steelyard.judges.history.levels import Levels, levels_of
from steelyard.judges.history.settings import differences
from steelyard.judges.history.store import Night, Pool
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.row import Row
from steelyard.rows.labels import row_labels, told_by_op
from steelyard.stats.arrays import FloatArray
from steelyard.stats.change_points import Change, find_changes
from steelyard.stats.next_night import LEAST_NIGHTS, Screened, nights_needed, screen_tonight

_WIDEST = math.log(1e6)  # of an interval: a wider one is none
_OTHER_MODES = "more launches than before are in another mode"
SUSPECT = 0.05  # p of a test case by itself; below, it is worth a confirmation


class NightVerdict(CaseVerdict, frozen=True, kw_only=True):
    """The verdict on a test case, or on all of an op: tonight (`b`) against the nights before (`a`).

    `label` distinguishes it from others of its op and size. `nights` are those before tonight at the last
    level, `nights_needed` how many would decide, None if no number would. `since` is the first night of the
    last level, None if it never changed. `suspected`: worth a confirmation; `confirmed` by arms, None if that
    was not tried.
    """

    label: str
    nights: int
    nights_needed: int | None
    since: str | None
    suspected: bool
    confirmed: bool | None = None


class SettingChange(Struct, frozen=True):
    """A setting that differs between two consecutive nights; `night` is the later one."""

    name: str
    before: str
    after: str
    night: str


class LevelChange(Struct, frozen=True, kw_only=True):
    """A lasting change of a level: `ratio` is the new time over the old one, with its interval (99 %).

    It changed between the nights `last` and `first`; with 95 % the first night is one of
    `earliest`..`latest`.
    """

    op: str
    bytes: int | None
    label: str
    ratio: float
    low: float
    high: float
    p: float
    last: str
    first: str
    earliest: str
    latest: str
    settings: tuple[SettingChange, ...]


class NightName(Struct, frozen=True):
    """A night and the time of its measurement, in ns since 1970."""

    name: str
    folder: str
    began_unix_ns: int


class LeftOut(Struct, frozen=True):
    """A folder that was not pooled, and why."""

    folder: str
    why: str


class Checked(Struct, frozen=True, kw_only=True):
    """The results of a check. `common` is tonight's change in test cases without MPI, as a ratio.

    `zeros` names launches that are left out because they took less time than their timer can measure.
    `settings` are tonight's differences from the night before. `level` is the probability that all intervals
    hold together. `quantile` of launches is what is compared; None: their medians.
    """

    verdict: str
    tonight: str
    nights: tuple[NightName, ...]
    left_out: tuple[LeftOut, ...]
    promise: Promise
    points: tuple[NightVerdict, ...]
    ops: tuple[NightVerdict, ...]
    changes: tuple[LevelChange, ...]
    settings: tuple[SettingChange, ...]
    common: float | None
    missing: int
    zeros: tuple[str, ...] = ()
    confirm: str | None = None
    level: float = 0.99
    quantile: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A column of a check for a picture.

    `values` of nights are logarithms, shape (n,); `changes` are those of its level.
    """

    name: str
    unit: str
    values: FloatArray
    changes: tuple[Change, ...]
    verdict: str


def check_tonight(pool: Pool, asked: Question, seed: int = 0) -> tuple[Checked, tuple[Series, ...]]:
    """Compare tonight with its history, and date its changes. Raises InputError for too few nights."""
    before = len(pool.nights) - 1
    if before < LEAST_NIGHTS:
        why = f"; {pool.left_out[0][0]}: {pool.left_out[0][1]}" if pool.left_out else ""
        raise InputError(
            f"tonight can be compared with {before or 'no'} earlier night{'' if before == 1 else 's'}, and "
            f"at least {LEAST_NIGHTS} are needed to know how nights differ{why}"
        )
    levels = levels_of(pool)
    rows = [rows[-1] for rows in pool.cases]
    cases = [row for row in rows if row is not None]
    ops = list(dict.fromkeys(row.op for row in cases))
    members = {op: [j for j, row in enumerate(cases) if row.op == op] for op in ops}
    wide = [op for op in ops if len(members[op]) > 1]
    values = np.column_stack([levels.values, *(levels.values[:, members[op]].mean(axis=1) for op in wide)])
    changes = find_changes(values, false_alarm=asked.false_alarm, seed=seed)
    own = [
        tuple(change for change in changes if change.column == column) for column in range(values.shape[1])
    ]
    starts = [(0, *(one.at for one in mine)) for mine in own]
    screened = screen_tonight(values, starts, false_alarm=asked.false_alarm)
    labels = _labels(cases)
    heads: list[tuple[Row, int | None, str]] = [
        (row, row.bytes, label) for row, label in zip(cases, labels, strict=True)
    ]
    heads += [(cases[members[op][0]], None, "") for op in wide]
    names = [night.name for night in pool.nights]
    told = [
        _verdict(*head, column, screened, own[column], levels, names, asked)
        for column, head in enumerate(heads)
    ]
    points, whole = tuple(told[: len(cases)]), tuple(told[len(cases) :])
    checked = Checked(
        verdict=COMPARED.gravest(point.verdict for point in points),
        tonight=names[-1],
        nights=tuple(NightName(night.name, visible(str(night.folder)), night.began) for night in pool.nights),
        left_out=tuple(LeftOut(*map(visible, reason)) for reason in pool.left_out),
        promise=_promise(asked, len(told)),
        points=points,
        ops=whole,
        changes=tuple(_level_change(change, *heads[change.column], pool.nights) for change in changes),
        settings=_settings_between(pool.nights, before, before),
        level=1 - asked.false_alarm,
        quantile=asked.quantile,
        common=None if levels.common is None else _common(levels.common),
        missing=pool.missing,
        zeros=pool.zeros,
    )
    series = tuple(
        Series(_name(one), head[0].unit, values[:, column], own[column], one.verdict)
        for column, (one, head) in enumerate(zip(told, heads, strict=True))
    )
    return checked, series


def with_confirmed(checked: Checked, promise: Promise, said: Mapping[int, CaseVerdict]) -> Checked:
    """Add the arms' verdicts on suspected test cases: these alone decide slower or faster now.

    said: the verdicts of arms, by the numbers of their test cases tonight; promise: theirs.
    """
    told = tuple(
        _confirmed(point, said[point.point_b])
        if point.point_b is not None and point.point_b in said
        else replace(point, verdict=CANNOT_TELL, why="suspected, and not measured again")
        if point.verdict in (SLOWER, FASTER, LITTLE)
        else point
        for point in checked.points
    )
    return replace(
        checked,
        verdict=COMPARED.gravest(one.verdict for one in told),
        points=told,
        ops=(),
        promise=promise,
        confirm=None,
    )


def _confirmed(verdict: NightVerdict, arms: CaseVerdict) -> NightVerdict:
    return replace(
        verdict,
        verdict=arms.verdict,
        ratio=arms.ratio,
        low=arms.low,
        high=arms.high,
        p=arms.p,
        launches_needed=arms.launches_needed,
        why=arms.why,
        confirmed=arms.verdict in (SLOWER, FASTER) and verdict.verdict in (arms.verdict, CANNOT_TELL, SAME),
    )


def _promise(asked: Question, family: int) -> Promise:
    percent = f"{100 * asked.false_alarm:g} %"
    return Promise(
        asked.false_alarm,
        family,
        f"at most {percent} of nights like those before say slower or faster anywhere, and at most {percent} "
        "of histories without a change have one dated",
    )


def _labels(cases: Sequence[Row]) -> list[str]:
    labels = row_labels(cases, without=told_by_op(cases))
    return [labels.label(i) for i in range(len(cases))]


def _name(verdict: NightVerdict) -> str:
    return ", ".join(part for part in (f"{verdict.op} {verdict.size}".rstrip(), verdict.label) if part)


def _common(common: FloatArray) -> float:
    return math.exp(float(common[-1] - np.median(common[:-1])))


def _verdict(
    row: Row,
    size: int | None,
    label: str,
    column: int,
    screened: Screened,
    changes: Sequence[Change],
    levels: Levels,
    names: Sequence[str],
    asked: Question,
) -> NightVerdict:
    """Take the screen's verdict or, if tonight is like the last nights, that of the change before them."""
    change = changes[-1] if changes else None
    estimate, low, high = (float(ends[column]) for ends in (screened.estimate, screened.low, screened.high))
    is_known = math.isfinite(estimate)
    p = float(screened.p[column])
    verdict, why, is_odd = _screen_verdict(column, screened, levels if size is not None else None, asked)
    suspected = is_known and (verdict in (SLOWER, FASTER) or is_odd)
    if change is not None and verdict in (SAME, CANNOT_TELL):
        verdict, why = _direction(change.estimate, asked), f"since {names[change.at]}"
        estimate, low, high, p = change.estimate, change.low, change.high, change.p
        suspected, is_known = True, True
    has_ends = is_known and high - low <= _WIDEST
    ends = [math.exp(one) for one in (estimate, low, high)] if has_ends else [None, None, None]
    return NightVerdict(
        op=row.op,
        bytes=size,
        ranks=row.ranks,
        point_a=None,
        point_b=row.point if size is not None else None,
        a="nights before",
        b="tonight",
        ratio=ends[0],
        low=ends[1],
        high=ends[2],
        p=p if is_known else None,
        verdict=verdict,
        launches_needed=None,
        why=why,
        label=label,
        nights=int(screened.nights[column]),
        nights_needed=_needed(verdict, why, screened, column, asked) if is_known or not why else None,
        since=None if change is None else names[change.at],
        suspected=suspected,
        sized=row.sized or row.bytes > 0,
    )


def _screen_verdict(
    column: int, screened: Screened, levels: Levels | None, asked: Question
) -> tuple[str, str, bool]:
    """Judge tonight against the nights before: the verdict, why it is open, and whether tonight is odd.

    `levels` are those of test cases; what all of an op have in common has none.
    """
    estimate, low, high = (float(ends[column]) for ends in (screened.estimate, screened.low, screened.high))
    is_known = math.isfinite(estimate)
    p = float(screened.p[column])
    is_far = is_known and abs(estimate) > screened.farthest[column]
    verdict, why = CANNOT_TELL, ""
    odd = levels.odd[column] if levels is not None and column < len(levels.odd) else ""
    margin = math.log1p(asked.margin)
    if not is_known:
        why = f"{screened.nights[column]} earlier nights"
    elif high - low > _WIDEST:
        why = "nights are too far apart"
    elif p <= asked.false_alarm and not is_far:
        why = "a night before was as far off"
    elif p <= asked.false_alarm:
        verdict = _direction(estimate, asked)
    elif odd:
        why = odd
    elif -margin <= low and high <= margin:
        has_moved = levels is not None and abs(levels.moved[column]) > margin
        verdict, why = (CANNOT_TELL, _OTHER_MODES) if has_moved else (SAME, "")
        odd = why
    return verdict, why, bool(screened.alone[column] <= SUSPECT or odd)


def _direction(estimate: float, asked: Question) -> str:
    if abs(estimate) < math.log1p(asked.least):
        return LITTLE
    return SLOWER if estimate > 0 else FASTER


def _needed(verdict: str, why: str, screened: Screened, column: int, asked: Question) -> int | None:
    """Estimate how many nights would decide, if more of them would help."""
    if verdict != CANNOT_TELL or why:
        return None
    family = max(1, int(np.isfinite(screened.estimate).sum()))
    return nights_needed(
        float(screened.scatter[column]),
        math.log1p(asked.margin),
        asked.false_alarm / family,
        lent=screened.lent,
    )


def _level_change(
    change: Change, row: Row, size: int | None, label: str, nights: Sequence[Night]
) -> LevelChange:
    names = [night.name for night in nights]
    return LevelChange(
        op=row.op,
        bytes=size,
        label=label,
        ratio=math.exp(change.estimate),
        low=math.exp(change.low),
        high=math.exp(change.high),
        p=change.p,
        last=names[change.at - 1],
        first=names[change.at],
        earliest=names[change.earliest],
        latest=names[change.latest],
        settings=_settings_between(nights, change.earliest, change.latest),
    )


def _settings_between(nights: Sequence[Night], earliest: int, latest: int) -> tuple[SettingChange, ...]:
    """Find the settings that changed from one night to the next among the nights `earliest`..`latest`."""
    return tuple(
        SettingChange(name, before, after, nights[at].name)
        for at in range(earliest, latest + 1)
        for name, before, after in differences(nights[at - 1].settings, nights[at].settings)
    )
