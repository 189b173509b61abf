"""Curves over ranks without a model, because the method changes where ranks outnumber cores."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.models.growth import GROWTH_FREE, is_grown
from steelyard.models.max_rate import LEAST_PAIRS, RATE_FREE, is_rated
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.stats.normal_form import LEAST_COUNTS


class Unmodelled(Struct, frozen=True):
    """A test case over ranks: the ranks of each method, too few by any one of them."""

    row: Row
    ranks: dict[str, tuple[int, ...]]


def unmodelled_growths(rows: Sequence[Row]) -> tuple[Unmodelled, ...]:
    """Find collectives on enough numbers of ranks for a model of growth, but by several methods."""
    return _unmodelled([row for row in rows if is_grown(row)], GROWTH_FREE, LEAST_COUNTS)


def unmodelled_rates(rows: Sequence[Row]) -> tuple[Unmodelled, ...]:
    """Find patterns of pairs on enough numbers of ranks for a model of rates, but by several methods."""
    return _unmodelled([row for row in rows if is_rated(row)], RATE_FREE, LEAST_PAIRS)


def _unmodelled(rows: Sequence[Row], free: Sequence[str], least: int) -> tuple[Unmodelled, ...]:
    curves: dict[tuple[object, ...], dict[str, list[Row]]] = {}
    for row in rows:
        key = key_of(row, (*free, "method", "method_params"))
        curves.setdefault(key, {}).setdefault(row.method, []).append(row)
    found = (
        Unmodelled(
            next(iter(methods.values()))[0],
            {method: tuple(sorted({row.ranks for row in own})) for method, own in methods.items()},
        )
        for methods in curves.values()
    )
    return tuple(
        one
        for one in found
        if len({count for counts in one.ranks.values() for count in counts}) >= least
        and all(len(counts) < least for counts in one.ranks.values())
    )
