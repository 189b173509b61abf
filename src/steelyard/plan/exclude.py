"""Test cases that a measure leaves out of its product: `exclude = [{ bytes = "1Mi", threads = 4 }]`."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from steelyard.base.errors import InputError
from steelyard.base.units import parse_counts, parse_sizes
from steelyard.plan.axis import PlanAxis, WordAxis, as_value_error, check_key, numbers_in, words_in
from steelyard.records.campaign_file import PlannedPoint

_OF_MACHINES = ("mpi", "ranks", "hosts", "threads", "placement")
ExcludedValues = Mapping[str, float | str | tuple[float | str, ...]]


class Exclude(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The test cases that match all keys of the table; a key that is not given matches anything."""

    ops: WordAxis | None = None  # names or patterns
    mpi: WordAxis | None = None  # names or families
    bytes: PlanAxis | None = None
    ranks: PlanAxis | None = None
    hosts: PlanAxis | None = None
    threads: PlanAxis | None = None
    thread_level: WordAxis | None = None
    method: WordAxis | None = None
    placement: WordAxis | None = None  # classes of pairs, `same-cpu`
    params: ExcludedValues = {}
    omp: ExcludedValues = {}
    env: ExcludedValues = {}

    def __post_init__(self) -> None:
        """Check what the types do not; msgspec converts the ValueError into its own."""
        for field in fields(self):
            if (value := getattr(self, field.name)) is not None:
                with as_value_error():
                    check_key(field.name, value, may_be_empty=field.name == "env")
        if not any(getattr(self, field.name) for field in fields(self)):
            raise ValueError("exclude has a table without a key, which would leave out all; give it a key")


class Excluded:
    """The tables of a measure, and those that have left out a test case, or would on another machine."""

    def __init__(self, tables: Sequence[Exclude]) -> None:
        """No test case was seen yet."""
        self._tables = tables
        self._of_use = set[int]()

    def leaves_out(self, point: PlannedPoint) -> bool:
        """Does a test case match any of the tables? Raises InputError for what is no size or number."""
        for number, one in enumerate(self._tables):
            if number not in self._of_use and is_excluded(point, one, anywhere=True):
                self._of_use.add(number)
        return any(is_excluded(point, table) for table in self._tables)

    def check(self) -> None:
        """Raise InputError for a table that leaves out nothing, whatever the machine."""
        for number, one in enumerate(self._tables):
            if number not in self._of_use:
                words = msgspec.json.encode(one).decode()
                raise InputError(f"exclude = [{words}] leaves out nothing; correct it, or leave it out")


def is_excluded(point: PlannedPoint, excluded: Exclude, *, anywhere: bool = False) -> bool:
    """Does a test case match all keys of a table? Raises InputError for what is no size or number.

    `anywhere`: but for the keys by which a plan allows for other machines than this one.
    """
    axes = {name: getattr(excluded, name) for name in _IS_SO if not (anywhere and name in _OF_MACHINES)}
    tables = () if anywhere else ((excluded.omp, point.omp), (excluded.env, point.env))
    params = {**point.params, **point.method_params, **point.rule_params}
    return all(axis is None or _IS_SO[name](point, axis) for name, axis in axes.items()) and all(
        _has(known, wanted) for wanted, known in (*tables, (excluded.params, params))
    )


def _has(known: Mapping[str, Any], wanted: ExcludedValues) -> bool:
    """Is each of the wanted values, or one of several, among the known ones?"""
    return all(
        name in known and known[name] in (values if isinstance(values, tuple) else (values,))
        for name, values in wanted.items()
    )


@cache  # thousands of test cases are held against the same axes
def _numbers(axis: PlanAxis, name: str) -> frozenset[int]:
    parse = parse_sizes if name == "bytes" else partial(_counts, name)
    return frozenset(numbers_in(axis, parse))


def _counts(name: str, text: str) -> tuple[int, ...]:
    return parse_counts(text, name)


def _is_size(point: PlannedPoint, axis: PlanAxis) -> bool:
    return point.bytes in _numbers(axis, "bytes")


def _is_number(name: str, point: PlannedPoint, axis: PlanAxis) -> bool:
    """Compare a number; a test case without a number of hosts is on one."""
    return (getattr(point, name) or 1) in _numbers(axis, name)


def _is_word(name: str, point: PlannedPoint, axis: PlanAxis) -> bool:
    return getattr(point, name) in words_in(axis)


def _is_op(point: PlannedPoint, axis: PlanAxis) -> bool:
    return any(fnmatch.fnmatchcase(point.op, pattern) for pattern in words_in(axis))


def _is_mpi(point: PlannedPoint, axis: PlanAxis) -> bool:
    return point.mpi is not None and bool({point.mpi, point.mpi.partition("-")[0]} & set(words_in(axis)))


def _is_class(point: PlannedPoint, axis: PlanAxis) -> bool:
    return point.placement is not None and point.placement.kind in words_in(axis)


_IS_SO: Mapping[str, Callable[[PlannedPoint, PlanAxis], bool]] = {
    "ops": _is_op,
    "mpi": _is_mpi,
    "bytes": _is_size,
    **{name: partial(_is_number, name) for name in ("ranks", "hosts", "threads")},
    **{name: partial(_is_word, name) for name in ("thread_level", "method")},
    "placement": _is_class,
}
