"""Pairs of launches that did not run one after the other.

A coin orders two neighbouring launches. Launches that were measured again hours later (`--retry failed`), or
added for one arm only, have no such order, so their pairs cannot be swapped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.base.errors import InputError
from steelyard.results.row import Row, has_time

_LONG = 10.0  # times the usual gap between the launches of a pair; beyond, they are no neighbours
_SHORT_NS = 60e9  # gaps that are never long: starting a launch may take a while


def begins_of(cases: Sequence[Sequence[Row]]) -> list[tuple[int, int]]:
    """List when launches of test cases began, each with its number; the first comes first."""
    rows = [row for case in cases for row in case]
    return sorted({(at, number) for row in rows for number, at in _began(row).items()})


def strangers(case: Sequence[Row], begins: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Find the launches of a test case, by number, whose arms are no neighbours in time.

    case: the row of each arm; begins: those of the launches of all test cases. No neighbours are launches of
    a pair with a launch of another number between them, or with ten times the usual gap. Records without the
    begin count as neighbours.
    """
    began = [_began(row) for row in case]
    shared = set.intersection(*(set(one) for one in began))
    spans = {number: sorted(one[number] for one in began) for number in shared}
    apart = {
        number
        for number, span in spans.items()
        if any(span[0] < at < span[-1] and other != number for at, other in begins)
    }
    gaps = {number: span[-1] - span[0] for number, span in spans.items() if number not in apart}
    usual = float(np.median(list(gaps.values()))) if gaps else 0.0
    apart |= {number for number, gap in gaps.items() if gap > max(_LONG * usual, _SHORT_NS)}
    return frozenset(apart)


def _began(row: Row) -> dict[int, int]:
    return {
        launch.launch: launch.began_unix_ns
        for launch in row.launches
        if launch.began_unix_ns and has_time(launch)
    }


def refuse_copies(cases: Sequence[Sequence[Row]], arms: Sequence[str]) -> None:
    """Raise InputError for a folder with the launches of the first: it is the same measurement."""
    first, *others = ([_launches_of(case[k]) for case in cases] for k in range(len(arms)))
    for name, launches in zip(arms[1:], others, strict=True):
        if launches == first and all(launches):
            raise InputError(
                f"'{name}' holds the launches of '{arms[0]}', as a copy does; give another folder"
            )


def _launches_of(row: Row) -> list[tuple[int, float | None]]:
    """List the begin and the time of each launch; nothing if records do not have the begin."""
    return [(launch.began_unix_ns, launch.median) for launch in row.launches if launch.began_unix_ns]
