"""Test cases that a measure leaves out of its product: `exclude = [{ bytes = "1Mi", threads = 4 }]`."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from steelyard.base.units import parse_counts, parse_sizes
from steelyard.plan.axis import PlanAxis, WordAxis, as_value_error, check_key, numbers_in, words_in
from steelyard.records.campaign_file import PlannedPoint

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


def is_excluded(point: PlannedPoint, excluded: Exclude) -> bool:
    """Does a test case match all keys of a table? Raises InputError for what is no size or number."""
    axes = (getattr(excluded, name) for name in _IS_SO)
    tables = ((excluded.omp, point.omp), (excluded.env, point.env))
    params = {**point.params, **point.method_params, **point.rule_params}
    return all(
        axis is None or is_so(point, axis) for is_so, axis in zip(_IS_SO.values(), axes, strict=True)
    ) and all(_has(known, wanted) for wanted, known in (*tables, (excluded.params, params)))


def _has(known: Mapping[str, Any], wanted: ExcludedValues) -> bool:
    """Is each of the wanted values, or one of several, among the known ones?"""
    return all(
        name in known and known[name] in (values if isinstance(values, tuple) else (values,))
        for name, values in wanted.items()
    )


def _is_size(point: PlannedPoint, axis: PlanAxis) -> bool:
    return point.bytes in numbers_in(axis, parse_sizes)


def _is_number(name: str, point: PlannedPoint, axis: PlanAxis) -> bool:
    """Compare a number; a test case without a number of hosts is on one."""
    return (getattr(point, name) or 1) in numbers_in(axis, lambda text: parse_counts(text, name))


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
