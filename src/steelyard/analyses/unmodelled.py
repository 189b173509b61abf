"""Curves over ranks without a model, because the method changes where ranks outnumber cores."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.base.plural import joined
from steelyard.base.units import format_bytes
from steelyard.render.table import Table, plain_lines, words
from steelyard.results.key import key_of
from steelyard.results.row import Row

_WHY = (
    "it needs {} numbers of ranks by one method, but another method is used if ranks outnumber cores, as "
    "times then include waiting for a core; measure more numbers of ranks up to the cores, or on more hosts"
)


class Unmodelled(Struct, frozen=True):
    """A test case over ranks: the ranks of each method, too few by any one of them."""

    row: Row
    ranks: dict[str, tuple[int, ...]]


def unmodelled(rows: Sequence[Row], free: Sequence[str], least: int) -> tuple[Unmodelled, ...]:
    """Find curves over ranks with `least` numbers of ranks or more by all methods, and fewer by each.

    `free` are the keys in which rows of one curve may differ.
    """
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


def unmodelled_tables(what: str, least: int, unmodelled: Sequence[Unmodelled]) -> tuple[Table, ...]:
    """Make a line for each curve without a model; none without any."""
    if not unmodelled:
        return ()
    lines = ((_of(one), _by(one)) for one in unmodelled)
    columns = words("of"), words("ranks")
    return (Table(f"no {what} can be determined", _WHY.format(least), columns, plain_lines(lines)),)


def _of(one: Unmodelled) -> str:
    said = f"{one.row.op} {format_bytes(one.row.bytes)}" if one.row.sized else one.row.op
    return f"{said} of {one.row.mpi}" if one.row.mpi else said


def _by(one: Unmodelled) -> str:
    """`2 by epoch; 3, 4 and 6 by barrier`."""
    return "; ".join(f"{joined(map(str, counts))} by {method}" for method, counts in one.ranks.items())
