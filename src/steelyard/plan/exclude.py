"""Test cases that a measure leaves out of its product: `exclude = [{ bytes = "1Mi", threads = 4 }]`."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
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
    """The tables of a measure, and those that have left out a test case, or would on another machine.

    Each is a bit: tens of thousands of test cases are held against hundreds of tables.
    """

    def __init__(self, tables: Sequence[Exclude]) -> None:
        """No test case was seen yet. Raises InputError for what is no size or number."""
        self._tables = tables
        self._of_use = 0
        self._axes = {
            name: _Holders(
                [None if (axis := getattr(table, name)) is None else read(axis) for table in tables]
            )
            for name, (read, _) in _AXES.items()
            if any(getattr(one, name) is not None for one in tables)
        }
        self._values = {
            (kind, name): _Holders([_wanted(getattr(table, kind), name) for table in tables])
            for kind in _TABLES
            for name in dict.fromkeys(name for table in tables for name in getattr(table, kind))
        }

    def leaves_out(self, point: PlannedPoint) -> bool:
        """Does a test case match all keys of any of the tables?"""
        if not self._tables:
            return False
        here = anywhere = (1 << len(self._tables)) - 1
        for name, holders in self._axes.items():
            bits = holders.of(_AXES[name][1](point, holders))
            here &= bits
            if name not in _OF_MACHINES:
                anywhere &= bits
        for (kind, name), holders in self._values.items():
            bits = holders.of(_known(point, kind, name))
            here &= bits
            if kind == "params":
                anywhere &= bits
        self._of_use |= anywhere
        return here != 0

    def check(self) -> None:
        """Raise InputError for a table that leaves out nothing, whatever the machine."""
        for number, one in enumerate(self._tables):
            if not self._of_use >> number & 1:
                words = msgspec.json.encode(one).decode()
                raise InputError(f"exclude = [{words}] leaves out nothing; correct it, or leave it out")


class _Holders:
    """The tables that name a value of a key, as bits; those without the key match any value."""

    def __init__(self, values: Sequence[Collection[Any] | None]) -> None:
        self._any = sum(1 << number for number, ones in enumerate(values) if ones is None)
        self.by_value: dict[Any, int] = {}
        for number, ones in enumerate(values):
            for one in ones or ():
                self.by_value[one] = self.by_value.get(one, 0) | 1 << number

    def of(self, values: Iterable[Any]) -> int:
        """Find the tables that match any of the values of a test case."""
        found = self._any
        for value in values:
            found |= self.by_value.get(value, 0)
        return found


def _wanted(values: ExcludedValues, name: str) -> tuple[float | str, ...] | None:
    value = values.get(name)
    return value if value is None or isinstance(value, tuple) else (value,)


def _known(point: PlannedPoint, kind: str, name: str) -> tuple[Any, ...]:
    """List the value of a test case under a name of that kind, if it has one."""
    if kind == "params":
        tables: tuple[Mapping[str, Any], ...] = (point.rule_params, point.method_params, point.params)
    else:
        tables = (getattr(point, kind),)
    return next(((values[name],) for values in tables if name in values), ())


def _numbers(what: str, axis: PlanAxis) -> tuple[int, ...]:
    return numbers_in(axis, parse_sizes if what == "bytes" else partial(parse_counts, what=what))


def _number(name: str, point: PlannedPoint, _: _Holders) -> tuple[int, ...]:
    """Return a number; a test case without a number of hosts is on one."""
    return (getattr(point, name) or 1,)


def _size(point: PlannedPoint, _: _Holders) -> tuple[int, ...]:
    return (point.bytes,)


def _word(name: str, point: PlannedPoint, _: _Holders) -> tuple[str | None, ...]:
    return (getattr(point, name),)


def _patterns(point: PlannedPoint, holders: _Holders) -> list[str]:
    return [pattern for pattern in holders.by_value if fnmatch.fnmatchcase(point.op, pattern)]


def _library(point: PlannedPoint, _: _Holders) -> tuple[str, ...]:
    """List an MPI by name and by family."""
    return () if point.mpi is None else (point.mpi, point.mpi.partition("-")[0])


def _class(point: PlannedPoint, _: _Holders) -> tuple[str, ...]:
    return () if point.placement is None else (point.placement.kind,)


_TABLES = ("params", "omp", "env")
# What reads an axis of a table, and what lists the values of a test case that are matched by it.
_AXES: Mapping[
    str, tuple[Callable[[Any], Collection[Any]], Callable[[PlannedPoint, _Holders], Collection[Any]]]
] = {
    "ops": (words_in, _patterns),
    "mpi": (words_in, _library),
    "bytes": (partial(_numbers, "bytes"), _size),
    **{name: (partial(_numbers, name), partial(_number, name)) for name in ("ranks", "hosts", "threads")},
    **{name: (words_in, partial(_word, name)) for name in ("thread_level", "method")},
    "placement": (words_in, _class),
}
