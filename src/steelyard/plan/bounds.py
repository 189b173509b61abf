"""Bounds of parameters that the ranks, the threads or the size of a test case set: no rank 9 among 2.

The engine's rows name a bound by a word (`Param.all`). A value that no test case of a measure can have is
refused before anything starts; where some can have it, the engine skips the others and says why.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.product import MOST_TEST_CASES, check_test_cases
from steelyard.base.units import format_value
from steelyard.engines.description import Param
from steelyard.plan.plan import Value
from steelyard.records.campaign_file import PlannedPoint

_ALL = range(1 << 62)  # more than any parameter
_DOUBLE = 8  # bytes of the elements of laid out data
_EXTENTS = ("px", "py", "pz")  # of a grid of ranks; 0: the library chooses


class BoundedCase(NamedTuple):
    """What bounds depend on: the parameters include those that were not given."""

    ranks: int
    threads: int
    bytes: int
    params: Mapping[str, Value] = {}

    def number(self, name: str, absent: int) -> int:
        """Return a parameter that is a whole number."""
        value = self.params.get(name)
        return int(value) if isinstance(value, int | float) and math.isfinite(value) else absent

    @property
    def members(self) -> int:
        """The ranks of the smallest of its groups."""
        return max(1, self.ranks // max(1, self.number("groups", 1)))


class _CaseBound(NamedTuple):
    """Values within a range, which divide a number if one is given; `*` means those from `first` on."""

    within: Callable[[BoundedCase], range]
    divide: Callable[[BoundedCase], int] = lambda _: 0
    first: int = -1

    def allows(self, value: int, case: BoundedCase) -> bool:
        number = self.divide(case)
        return value in self.within(case) and (value == 0 or number % value == 0)

    def remedy(self, case: BoundedCase) -> str:
        within, number = self.within(case), self.divide(case)
        if not within:
            return "leave it out"
        words = f"from {within[0]} to {within[-1]}" if within[-1] != _ALL[-1] else f"{within[0]} or more"
        return f"choose {words}" if number == 0 else f"choose a number that divides {number}, {words}"


def _degrees(case: BoundedCase) -> range:
    return range(1, case.members) if case.params.get("topology") == "random" else _ALL


def _peers(case: BoundedCase) -> range:
    return range(1, (case.ranks // 2 if case.params.get("form") == "single" else case.ranks - 1) + 1)


def _face(case: BoundedCase) -> int:
    return case.bytes if case.params.get("back") == "partitioned" else 0


def _blocks(case: BoundedCase) -> int:
    return case.bytes // _DOUBLE if case.params.get("type") != "contiguous" else 0


def _extents(case: BoundedCase) -> range:
    """All extents together make the number of ranks, unless the library chooses one."""
    given = [case.number(name, 1) for name in _EXTENTS]
    return range(case.ranks + 1) if 0 in given or math.prod(given) == case.ranks else range(0)


_BOUNDS: Mapping[str, _CaseBound] = {
    "ranks": _CaseBound(lambda case: range(case.ranks)),
    "shifts": _CaseBound(lambda case: range(case.ranks), first=1),  # by 0 each rank calls itself
    "rounds": _CaseBound(lambda case: range(1, case.ranks + case.ranks % 2)),
    "groups": _CaseBound(lambda case: range(1, case.ranks + 1)),
    "members": _CaseBound(lambda case: range(case.members)),
    "late_ranks": _CaseBound(lambda case: range(-1, case.members)),
    "degrees": _CaseBound(_degrees),
    "peers": _CaseBound(_peers),
    "extents": _CaseBound(_extents, lambda case: case.ranks),
    "threads": _CaseBound(lambda case: range(1, case.threads + 1)),
    "partitions": _CaseBound(lambda case: _ALL[case.threads :], lambda case: case.bytes),
    "blocks": _CaseBound(lambda _: _ALL[1:], _blocks),
    "face_partitions": _CaseBound(lambda _: _ALL[1:], _face),
}


def all_values(row: Param, case: BoundedCase) -> tuple[Value, ...]:
    """List what `*` means: all words, or all numbers of a bound. Raises InputError if those are too many."""
    bound = _BOUNDS.get(row.all or "")
    if row.words or bound is None:
        return row.words
    within = bound.within(case)
    first, last = (
        max(within.start, bound.first, math.ceil(row.least)),
        min(within.stop, math.floor(row.most) + 1),
    )
    some = (value for value in range(first, last) if bound.allows(value, case))
    found = tuple(map(float, itertools.islice(some, MOST_TEST_CASES + 1)))
    check_test_cases(len(found))
    return found


class BoundedParams:
    """The parameters of test cases that these bound, and the defaults of all parameters."""

    def __init__(self, rows: Mapping[str, Param]) -> None:
        """Choose them of `rows`, which are by name."""
        self.rows = {name: row for name, row in rows.items() if row.word_bytes or row.all in _BOUNDS}
        self.usual = {name: row.default for name, row in rows.items()}


class Impossible:
    """The values of a measure that a test case had, and those that none had so far."""

    def __init__(self) -> None:
        """No test case was seen yet."""
        self._had = set[tuple[str, Value]]()
        self._refused = dict[tuple[str, Value], str]()

    def look(self, point: PlannedPoint, bounded: BoundedParams, *, alone: bool) -> None:
        """Hold the values of a test case against its bounds.

        The defaults of an op that is `alone` are what was asked for, too.
        """
        if not bounded.rows:
            return
        given = point.params | point.method_params | point.rule_params
        every = bounded.usual | given
        case = BoundedCase(point.ranks, point.threads, point.bytes, every)
        for key, row in bounded.rows.items():
            if not alone and key not in given:
                continue
            value = every[key]
            if (why := _refusal(row, value, case)) is None:
                self._had.add((key, value))
            else:
                self._refused.setdefault((key, value), f"{key}={format_value(value)} of {point.op} {why}")

    def check(self) -> None:
        """Raise InputError for the first value that no test case can have."""
        for one, sentence in self._refused.items():
            if one not in self._had:
                raise InputError(sentence)


def _refusal(row: Param, value: Value, case: BoundedCase) -> str | None:
    if isinstance(value, str):
        each = dict(zip(row.words, row.word_bytes, strict=False)).get(value, 0)
        if each and case.bytes % each:
            return f"has elements of {each} bytes; give a multiple of that, not {case.bytes}, with --bytes"
        return None
    bound = _BOUNDS.get(row.all or "")
    if bound is None or bound.allows(int(value), case):
        return None
    where = (
        f"{counted(case.ranks, 'rank')}, {counted(case.threads, 'thread')} and {counted(case.bytes, 'byte')}"
    )
    return f"is impossible with {where}; {bound.remedy(case)}"
