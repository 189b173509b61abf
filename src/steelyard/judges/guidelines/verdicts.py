"""Judge guidelines: violated, holds, cannot tell; with one error level over all verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.judges.guidelines.cases import GuidelineCase, find_cases
from steelyard.judges.guidelines.knobs import knob_words
from steelyard.judges.guidelines.table import GROWTH, MOCK, RANKS, SPLIT
from steelyard.judges.verdict import CANNOT_TELL, Scale
from steelyard.results.row import Row
from steelyard.stats.signed_ranks import least_pairs, signed_ranks

VIOLATED, HOLDS = "violated", "holds"
GUIDELINES_HELD = Scale((VIOLATED, CANNOT_TELL, HOLDS))
FALSE_ALARM = 0.01  # of a whole check of an MPI that keeps every guideline
TOLERANCE = 0.05  # by which the left side may take longer
MOST_NEEDED = 10_000  # launches: more is no advice
_CHOOSES = (GROWTH, SPLIT, RANKS)  # kinds for which another algorithm of the same call may help


@dataclass(frozen=True, slots=True)
class Asked:
    """Parameters of a check: its false alarms, and how much longer the left side may take."""

    false_alarm: float = FALSE_ALARM
    tolerance: float = TOLERANCE


class GuidelineVerdict(Struct, frozen=True, kw_only=True):
    """The verdict on one guideline at one size on one number of ranks.

    `ratio` is the time of `left` over that of `right`, which is made `times` times; `low` holds for all
    verdicts of a check together, and so does `high`. `p` is that of the hypothesis that the ratio is at most
    1 plus the tolerance, adjusted for all of them. `remedy` is for a program that meets a violation, `knob` a
    setting of the library. `what` names the right side, and distinguishes it from others of the same words
    and size: `of 2 KiB, 4 ranks`.
    """

    kind: str
    words: str
    left: str
    right: str
    point_left: int
    point_right: int
    bytes: int | None
    ranks: int
    mpi: str | None
    what: str
    times: int
    launches: int
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    launches_needed: int | None
    remedy: str
    knob: str


class CheckedGuidelines(Struct, frozen=True, kw_only=True):
    """All verdicts, and their common one. `family` is their number, `promise` the error level in words.

    `missing` are those of which a side has no values, and why. `least_launches` is the number of launches
    that a violation needs among so many verdicts.
    """

    verdict: str
    tolerance: float
    false_alarm: float
    family: int
    launches: int
    least_launches: int
    promise: str
    points: tuple[GuidelineVerdict, ...]
    missing: tuple[str, ...] = ()


def check_guidelines(rows: Sequence[Row], asked: Asked) -> CheckedGuidelines:
    """Judge all guidelines for which a folder has rows. Raises InputError if there are none.

    Both sides were measured in the same launches, in an order that was drawn anew for each. If the left side
    takes exactly `1 + tolerance` times as long as the right one, either sign of the difference is equally
    likely. p is exact by signed ranks, and lower if the left side takes less. All p are multiplied by the
    number of verdicts (Bonferroni), which holds for any dependence.
    """
    cases, lacking = find_cases(rows)
    missing = tuple(dict.fromkeys(f"{one.words} ({one.why})" for one in lacking))
    usable = [(case, times) for case in cases if (times := case.ratios())]
    if not usable:
        first = f": {missing[0]}" if missing else ""
        raise InputError(
            f"no guideline can be checked here{first}; measure both sides of one in the same launches, as "
            "'steelyard check guidelines' does"
        )
    family = len(usable)
    tail = asked.false_alarm / family
    labels = _Labels(case.left for case, _ in usable)
    points = tuple(_verdict(case, times, tail, family, asked, labels) for case, times in usable)
    return CheckedGuidelines(
        verdict=GUIDELINES_HELD.gravest(point.verdict for point in points),
        tolerance=asked.tolerance,
        false_alarm=asked.false_alarm,
        family=family,
        launches=max(point.launches for point in points),
        least_launches=least_pairs(tail),
        promise=(
            f"at most {100 * asked.false_alarm:g} % of checks of an MPI that keeps all guidelines within "
            f"{100 * asked.tolerance:g} % call any violated"
        ),
        points=points,
        missing=missing,
    )


def _verdict(
    case: GuidelineCase,
    times: Sequence[tuple[float, float]],
    tail: float,
    family: int,
    asked: Asked,
    labels: _Labels,
) -> GuidelineVerdict:
    margin = math.log1p(asked.tolerance)
    found = signed_ranks([math.log(left / right) for left, right in times], margin, tail)
    verdict = VIOLATED if found.p_above <= tail else HOLDS if found.p_below <= tail else CANNOT_TELL
    left, right = case.left, case.right
    named = {*case.guideline.left.params, *case.guideline.right.params}
    collective = left.op.removeprefix("mpi.")
    by = right.op.removeprefix(f"{MOCK}{collective}_by_") if right.op.startswith(MOCK) else ""
    chooses = case.guideline.kind in _CHOOSES or left.role == "collective"
    return GuidelineVerdict(
        kind=case.guideline.kind,
        words=case.guideline.words,
        left=left.op,
        right=right.op,
        point_left=left.point,
        point_right=right.point,
        bytes=left.bytes if left.sized else None,
        ranks=left.ranks,
        mpi=left.mpi,
        what=", ".join(part for part in (case.guideline.against, labels.label(left, named)) if part),
        times=case.times,
        launches=len(times),
        ratio=math.exp(found.estimate),
        low=_finite(found.low),
        high=_finite(found.high),
        p=min(1.0, family * found.p_above),
        verdict=verdict,
        launches_needed=_needed(verdict, len(times), found.estimate - margin, found, tail),
        remedy=case.guideline.remedy,
        knob=knob_words(left.mpi, collective, by) if chooses else "",
    )


def _finite(logarithm: float) -> float | None:
    return math.exp(logarithm) if math.isfinite(logarithm) else None


def _needed(verdict: str, pairs: int, distance: float, found: Any, tail: float) -> int | None:
    """Estimate how many launches would decide, from the width of the interval; None if no number helps."""
    if verdict != CANNOT_TELL:
        return None
    least = least_pairs(tail)
    if pairs < least:
        return least
    half = max(found.high - found.estimate, found.estimate - found.low)
    if distance == 0 or not math.isfinite(half):
        return None
    needed = max(pairs + 1, math.ceil(pairs * (half / distance) ** 2))
    return needed if needed <= MOST_NEEDED else None


class _Labels:
    """Words for what differs among the judged rows: `mpich-5.0.2, 4 ranks, type=int`."""

    def __init__(self, among: Iterable[Row]) -> None:
        self._values: dict[tuple[str, str], set[object]] = {}
        for row in among:
            for key, value in (*_facts(row).items(), *_settings(row).items()):
                self._values.setdefault(key, set()).add(value)

    def label(self, row: Row, named: Collection[str]) -> str:
        """Name what distinguishes a row; parameters that its guideline has `named` are left out."""
        facts = [text for key, text in _facts(row).items() if self._differs(key)]
        settings = _settings(row).items()
        parts = [
            f"{name}={value}"
            for (op, name), value in settings
            if self._differs((op, name)) and name not in named
        ]
        return ", ".join(text for text in (*facts, *parts) if text)

    def _differs(self, key: tuple[str, str]) -> bool:
        return len(self._values.get(key, ())) > 1


def _facts(row: Row) -> dict[tuple[str, str], str]:
    """List the facts that may distinguish any rows, by a key without an op."""
    return {
        ("", "mpi"): row.mpi or "no MPI",
        ("", "ranks"): counted(row.ranks, "rank"),
        ("", "hosts"): counted(row.hosts, "host") if row.hosts else "",
        ("", "threads"): counted(row.threads, "thread"),
        ("", "placed"): row.placed_text or "",
    }


def _settings(row: Row) -> dict[tuple[str, str], object]:
    """List the plan's settings of a row, by its op: parameters of other ops are different ones."""
    values: dict[str, object] = {name: row.params.get(name) for name in row.asked}
    values |= {**row.env, **row.omp}
    return {(row.op, name): value for name, value in values.items()}


def case_words(verdict: GuidelineVerdict) -> str:
    """Write `Gather <= Gatherv, 8 B, 4 ranks`."""
    size = "" if verdict.bytes is None else format_bytes(verdict.bytes)
    return ", ".join(part for part in (verdict.words, size, verdict.what) if part)
