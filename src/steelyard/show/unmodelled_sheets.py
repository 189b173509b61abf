"""Curves over ranks for which there is no model, and why, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.plural import joined
from steelyard.base.units import format_bytes
from steelyard.models.max_rate import LEAST_PAIRS
from steelyard.models.unmodelled import Unmodelled, unmodelled_growths, unmodelled_rates
from steelyard.results.row import Row
from steelyard.show.sheet import Sheet, plain_lines, words
from steelyard.stats.normal_form import LEAST_COUNTS

_WHY = (
    "it needs {} numbers of ranks by one method, but another method is used if ranks outnumber cores, as "
    "times then include waiting for a core; measure more numbers of ranks up to the cores, or on more hosts"
)


def unmodelled_growth_sheets(rows: Sequence[Row]) -> tuple[Sheet, ...]:
    """Make a line for each collective whose growth has no model; none without any."""
    return _sheets("growth", LEAST_COUNTS, unmodelled_growths(rows))


def unmodelled_rate_sheets(rows: Sequence[Row]) -> tuple[Sheet, ...]:
    """Make a line for each pattern of pairs whose rate has no model."""
    return _sheets("rate of pairs", LEAST_PAIRS, unmodelled_rates(rows))


def _sheets(what: str, least: int, found: Sequence[Unmodelled]) -> tuple[Sheet, ...]:
    if not found:
        return ()
    lines = ((_of(one), _by(one)) for one in found)
    columns = words("of"), words("ranks")
    return (Sheet(f"no {what} can be determined", _WHY.format(least), columns, plain_lines(lines)),)


def _of(one: Unmodelled) -> str:
    said = f"{one.row.op} {format_bytes(one.row.bytes)}" if one.row.sized else one.row.op
    return f"{said} of {one.row.mpi}" if one.row.mpi else said


def _by(one: Unmodelled) -> str:
    """`2 by epoch; 3, 4 and 6 by barrier`."""
    return "; ".join(f"{joined(map(str, counts))} by {method}" for method, counts in one.ranks.items())
