"""Models that were asked for and cannot be told of what was measured, and what is missing, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.plural import counted, joined
from steelyard.base.units import format_bytes
from steelyard.models.algorithms import untold_fan_outs
from steelyard.models.max_rate import LEAST_PAIRS
from steelyard.models.untold import Untold, untold_growths, untold_rates
from steelyard.results.row import Row
from steelyard.show.sheet import Sheet, plain_lines, words
from steelyard.stats.normal_form import LEAST_COUNTS

_TREE = (
    "nobody saw when each rank had done, which needs --method epoch and a core for each rank, and on more "
    "than 64 ranks --keep ranks"
)
_CURVE = (
    "it needs {} numbers of ranks by one method, and where ranks outnumber cores another method is used, for "
    "times then include waiting for a core; measure more numbers of ranks up to the cores, or on more hosts"
)


def untold_tree_sheets(rows: Sequence[Row]) -> tuple[Sheet, ...]:
    """A line for each broadcast beside ping-pong, as one asks for trees, whose tree is not told."""
    lines = [
        (_of_mpi(f"{row.op} on {counted(row.ranks, 'rank')}", row), row.method)
        for row in untold_fan_outs(rows)
    ]
    return _sheets("tree", _TREE, "method", lines)


def untold_growth_sheets(rows: Sequence[Row]) -> tuple[Sheet, ...]:
    """A line for each collective whose growth over ranks is not told."""
    return _curve_sheets("growth", LEAST_COUNTS, untold_growths(rows))


def untold_rate_sheets(rows: Sequence[Row]) -> tuple[Sheet, ...]:
    """A line for each pattern of pairs whose rate over pairs is not told."""
    return _curve_sheets("rate of pairs", LEAST_PAIRS, untold_rates(rows))


def _curve_sheets(what: str, least: int, found: Sequence[Untold]) -> tuple[Sheet, ...]:
    lines = [(_of_mpi(_sized(one.row), one.row), _by(one)) for one in found]
    return _sheets(what, _CURVE.format(least), "ranks", lines)


def _sheets(what: str, why: str, heading: str, lines: Sequence[tuple[str, str]]) -> tuple[Sheet, ...]:
    """The one table, whose title says what is not told; none where all is."""
    if not lines:
        return ()
    return (Sheet(f"no {what} can be told", why, (words("test case"), words(heading)), plain_lines(lines)),)


def _of_mpi(said: str, row: Row) -> str:
    return f"{said} of {row.mpi}" if row.mpi else said


def _sized(row: Row) -> str:
    return f"{row.op} {format_bytes(row.bytes)}" if row.sized else row.op


def _by(one: Untold) -> str:
    """`2 by epoch; 3, 4 and 6 by barrier`."""
    return "; ".join(f"{joined(map(str, counts))} by {method}" for method, counts in one.ranks.items())
