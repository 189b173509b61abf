"""Lines of collectives: at which sizes a collective changes its algorithm, and which one its cost is that of.

The times of a collective over its sizes are cut into lines as those of messages are (`loggp`): where one line
misses more than the scatter of launches explains, another algorithm, or another protocol of its messages,
begins. Beside ping-pong of the same MPI a line has a cost in messages,

    rounds = start / (L + 2 o)        passes = slope / G

with L + 2 o of the shortest messages and G of messages as long as those of the line: so many messages follow
each other, and so many times all bytes of a block pass a rank. An algorithm with known rounds and passes is
named where both are within a factor of 1.4, and of no other. What a line cannot tell (a slope that is lost in
its start, or the other way round) is not compared.

Methods whose value is no latency (calls that overlap, bounds) are left out.

What it cannot see: algorithms of equal cost; collectives through memory, which cost no messages at all.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH,
IJHPCA 19, 2005; E. Chan and others, Collective communication: theory, practice, and experience, CCPE 19,
2007.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from steelyard.models.loggp import LogModel, LogPiece, line_model, log_models, rounds_of
from steelyard.records.fields import Params
from steelyard.records.kinds import COLLECTIVE
from steelyard.results.key import key_of
from steelyard.results.row import Row

LEAST_SIZES = 6  # two lines of three sizes each
_APART = 1.4  # factor by which rounds and passes may differ from an algorithm's
_SEEN = 0.1  # of a line's time at one of its ends: a start or a slope that is less is not known

Cost = Callable[[int], float]


def _others(ranks: int) -> float:
    return ranks - 1.0


def _rounds(ranks: int) -> float:
    return float(rounds_of(ranks))


def _twice_rounds(ranks: int) -> float:
    return 2.0 * rounds_of(ranks)


def _twice(ranks: int) -> float:
    return 2.0 * (ranks - 1) / ranks


# What an algorithm is called, its rounds and its passes of a block, by the collective.
_ALGORITHMS: dict[str, tuple[tuple[str, Cost, Cost], ...]] = {
    "mpi.bcast": (
        ("binomial", _rounds, _rounds),
        ("scatter, recursive doubling", _twice_rounds, _twice),
        ("scatter, ring", lambda p: _rounds(p) + _others(p), _twice),
    ),
    "mpi.reduce": (
        ("binomial", _rounds, _rounds),
        ("reduce-scatter, gather", _twice_rounds, _twice),
    ),
    "mpi.allreduce": (
        ("recursive doubling", _rounds, _rounds),
        ("reduce, broadcast", _twice_rounds, _twice_rounds),
        ("reduce-scatter, allgather", _twice_rounds, _twice),
        ("ring", lambda p: 2 * _others(p), _twice),
    ),
    "mpi.allgather": (
        ("recursive doubling or Bruck", _rounds, _others),
        ("ring", _others, _others),
    ),
    "mpi.alltoall": (
        ("Bruck", _rounds, lambda p: _rounds(p) * p / 2),
        ("pairwise", _others, _others),
    ),
    "mpi.reduce_scatter_block": (
        ("recursive halving", _rounds, _others),
        ("pairwise", _others, _others),
    ),
}


class CollectiveLine(Struct, frozen=True, kw_only=True):
    """A line of a collective: `piece` from its size on, `rounds` and `passes` in messages, None for unknown.

    `algorithm` is the one that has this cost, None where none or several have.
    """

    piece: LogPiece
    rounds: float | None = None
    passes: float | None = None
    algorithm: str | None = None


class CollectiveLines(Struct, frozen=True, kw_only=True):
    """A collective under one MPI over its sizes. `missed` is what its lines miss at most, relative."""

    op: str
    mpi: str | None
    ranks: int
    method: str
    params: Params
    lines: tuple[CollectiveLine, ...]
    missed: float


def collective_lines_of(rows: Sequence[Row]) -> tuple[CollectiveLines, ...]:
    """Every collective of six sizes or more, in the order of the rows."""
    series: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        is_latency = row.role == COLLECTIVE and row.nature is None and row.bound is None
        if is_latency and row.sized and row.status == "ok" and row.time:
            series.setdefault(key_of(row, ("bytes",)), {}).setdefault(row.bytes, row)
    messages = {model.mpi: model for model in log_models(rows)} if series else {}
    found = []
    for sizes in series.values():
        first = next(iter(sizes.values()))
        model = line_model(first.mpi or "", sizes) if len(sizes) >= LEAST_SIZES else None
        if model is not None:
            found.append(_lines(first, model, messages.get(first.mpi or "")))
    return tuple(found)


def _lines(row: Row, model: LogModel, message: LogModel | None) -> CollectiveLines:
    ends = [*(piece.least for piece in model.pieces[1:]), model.sizes[-1]]
    return CollectiveLines(
        op=row.op,
        mpi=row.mpi,
        ranks=row.ranks,
        method=row.method,
        params=row.params,
        lines=tuple(_line(row, *one, message) for one in zip(model.pieces, ends, strict=True)),
        missed=model.missed,
    )


def _line(row: Row, piece: LogPiece, last: int, message: LogModel | None) -> CollectiveLine:
    if message is None:
        return CollectiveLine(piece=piece)
    start, slope = piece.start.value, piece.gap.value
    is_start_seen = start > _SEEN * (start + slope * piece.least)
    is_slope_seen = slope * last > _SEEN * (start + slope * last)
    gap = next(one for one in reversed(message.pieces) if one.least <= last or one is message.pieces[0])
    rounds = (
        start / message.pieces[0].start.value if is_start_seen and message.pieces[0].start.value else None
    )
    passes = slope / gap.gap.value if is_slope_seen and gap.gap.value else None
    return CollectiveLine(
        piece=piece, rounds=rounds, passes=passes, algorithm=_named(row.base, row.ranks, rounds, passes)
    )


def _named(base: str, ranks: int, rounds: float | None, passes: float | None) -> str | None:
    """The one algorithm that costs as much; None where several do, or nothing is known."""
    if rounds is None and passes is None:
        return None
    fitting = [
        name
        for name, own_rounds, own_passes in _ALGORITHMS.get(base, ())
        if _alike(rounds, own_rounds(ranks)) and _alike(passes, own_passes(ranks))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _alike(seen: float | None, own: float) -> bool:
    return seen is None or (seen > 0 and abs(math.log(seen / own)) <= math.log(_APART))
