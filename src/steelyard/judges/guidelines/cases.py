"""Find the two sides of a guideline among the rows of a folder: of the same launches, on the same ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from steelyard.base.units import format_bytes
from steelyard.judges.guidelines.table import (
    BETWEEN_TWO,
    GROW,
    GROW_WITH_RANKS,
    GUIDELINES,
    IDLE,
    RANKS,
    SPLITTABLE,
    Guideline,
    Side,
    growth,
    idle_ranks,
    more_ranks,
    split,
)
from steelyard.results.row import Row, has_time

_LEAST_LAUNCHES = 2  # of each side that a case needs


@dataclass(frozen=True, slots=True)
class GuidelineCase:
    """A case: `left` must not take longer than `times` times `right`."""

    guideline: Guideline
    left: Row
    right: Row
    times: int = 1

    def ratios(self) -> list[tuple[float, float]]:
        """The times of both sides in the launches that have both, in the order of the launches.

        Sides of the same number of ranks must be of one launch; a launch that was begun again later is
        another one.
        """
        right = {launch.launch: launch for launch in self.right.launches if has_time(launch)}
        found = []
        for launch in self.left.launches:
            other = right.get(launch.launch)
            if other is None or not has_time(launch):
                continue
            began = {launch.began_unix_ns, other.began_unix_ns} - {None}
            if self.guideline.kind in (RANKS, IDLE) or len(began) < 2:
                found.append((launch.median or 0.0, self.times * (other.median or 0.0)))
        return found


@dataclass(frozen=True, slots=True)
class Lacking:
    """A guideline of which one side has no values, and why."""

    words: str
    why: str


def find_cases(rows: Sequence[Row]) -> tuple[list[GuidelineCase], list[Lacking]]:
    """Find all cases of a folder, in the order of the guidelines, and those that lack a planned side."""
    by_op: dict[str, list[Row]] = {}
    for row in rows:
        by_op.setdefault(row.op, []).append(row)
    cases, lacking = list[GuidelineCase](), list[Lacking]()
    for one in GUIDELINES:
        if one.unless in by_op:
            continue
        for left, right in _sides(one, by_op):
            _add(GuidelineCase(one, left, right), cases, lacking)
    for case in (*_by_size(by_op), *_by_ranks(by_op)):
        _add(case, cases, lacking)
    return cases, lacking


def _add(case: GuidelineCase, cases: list[GuidelineCase], lacking: list[Lacking]) -> None:
    for row in (case.left, case.right):
        if sum(has_time(launch) for launch in row.launches) < _LEAST_LAUNCHES:
            size = f", {format_bytes(row.bytes)}" if row.sized else ""
            fewer = "fewer than two launches that took a time"
            lacking.append(Lacking(f"{case.guideline.words}{size}", f"{row.op}: {row.why or fewer}"))
            return
    cases.append(case)


def _sides(row: Guideline, by_op: dict[str, list[Row]]) -> Iterator[tuple[Row, Row]]:
    named = {*row.left.params, *row.right.params}
    rights = [right for right in by_op.get(row.right.op, ()) if _is_side(right, row.right)]
    for left in by_op.get(row.left.op, ()):
        if not _is_side(left, row.left):
            continue
        for right in rights:
            same = _circumstances(left) == _circumstances(right) and left.bytes == right.bytes
            if same and left.ranks == right.ranks and _same_params(left, right, named):
                yield left, right


def _is_side(row: Row, side: Side) -> bool:
    return all(row.params.get(name) == value for name, value in side.params.items())


def _circumstances(row: Row) -> tuple[object, ...]:
    """Key of all that both sides of any guideline share: a launch, and how it is measured."""
    return (
        *(row.mpi, row.hosts, row.threads, row.thread_level, row.method, row.transport),
        row.placed_text,
        *(tuple(sorted(values.items())) for values in (row.omp, row.env, row.method_params)),
    )


def _same_params(left: Row, right: Row, named: set[str]) -> bool:
    """Have both the same parameters, except those that make the sides?

    A parameter of only one of them must have its default.
    """
    for name in {*left.params, *right.params} - named:
        if name in left.params and name in right.params:
            if left.params[name] != right.params[name]:
                return False
        elif name in left.asked or name in right.asked:
            return False
    return True


def _series(
    rows: Iterable[Row], key: Callable[[Row], int], fixed: Callable[[Row], int]
) -> Iterator[tuple[Row, Row]]:
    """Pair rows of one op that differ only in `key`: each with the next one in the order of `key`."""
    series: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        # a type that fits the size is chosen anew for each
        params = {name: value for name, value in row.params.items() if name != "type" or name in row.asked}
        context = (*_circumstances(row), fixed(row), tuple(sorted(params.items())))
        series.setdefault(context, {}).setdefault(key(row), row)
    for found in series.values():
        yield from itertools.pairwise(found[value] for value in sorted(found))


def _by_size(by_op: dict[str, list[Row]]) -> Iterator[GuidelineCase]:
    """Pair each size with the next larger one that was measured."""
    for op in (op for op in by_op if op in GROW):
        sized = [row for row in by_op[op] if row.bytes > 0]
        for less, more in _series(sized, lambda row: row.bytes, lambda row: row.ranks):
            yield GuidelineCase(growth(op, more.bytes), less, more)
            parts, rest = divmod(more.bytes, less.bytes)
            if op in SPLITTABLE and rest == 0:
                yield GuidelineCase(split(op, less.bytes, parts), more, less, parts)


def _by_ranks(by_op: dict[str, list[Row]]) -> Iterator[GuidelineCase]:
    """Pair each number of ranks with the next larger one; for ops between two, with the next smaller one."""
    for op in (op for op in by_op if op in GROW_WITH_RANKS | BETWEEN_TWO):
        for less, more in _series(by_op[op], lambda row: row.ranks, lambda row: row.bytes):
            if op in BETWEEN_TWO:
                yield GuidelineCase(idle_ranks(op, less.ranks), more, less)
            else:
                yield GuidelineCase(more_ranks(op, more.ranks), less, more)
