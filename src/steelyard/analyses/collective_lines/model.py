"""Lines of collectives: the sizes at which a collective changes its algorithm, and the algorithm with its
cost.

The times of a collective over its sizes are cut into lines, as those of messages are (`loggp`). If the error
of one line exceeds the scatter of launches, another algorithm begins, or another protocol of its messages. If
ping-pong of the same MPI was measured, a line has a cost in messages,

    rounds = start / (L + 2 o)        passes = slope / G

with L + 2 o of the shortest messages, and G of messages as long as those of the line. `rounds` messages
follow each other, and all bytes of a block pass a rank `passes` times. An algorithm is named if its known
rounds and passes are both within a factor of 1.4, and those of no other are. A start or slope that the line
does not determine, because the other one dominates, is not compared.

Methods whose value is no latency (calls that overlap, bounds) are left out.

It cannot distinguish algorithms of equal cost. Collectives through memory cost no messages, so none is named.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH,
IJHPCA 19, 2005; E. Chan and others, Collective communication: theory, practice, and experience, CCPE 19,
2007.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from steelyard.analyses.loggp.model import LogModel, LogPiece, line_model, log_models, rounds_of
from steelyard.records.fields import Params
from steelyard.records.kinds import COLLECTIVE
from steelyard.results.key import key_of
from steelyard.results.row import Row

LEAST_SIZES = 6  # two lines of three sizes each
_APART = 1.4  # factor by which rounds and passes may differ from those of an algorithm
_SEEN = 0.1  # of a line's time at one of its ends: a smaller start or slope is not known

Cost = Callable[[int], float]


def _others(ranks: int) -> float:
    return ranks - 1.0


def _rounds(ranks: int) -> float:
    return float(rounds_of(ranks))


def _twice_rounds(ranks: int) -> float:
    return 2.0 * rounds_of(ranks)


def _twice(ranks: int) -> float:
    return 2.0 * (ranks - 1) / ranks


# The algorithms of each collective: name, rounds, passes of a block.
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

    `algorithm` is the only one with this cost; None if there is none, or several.
    """

    piece: LogPiece
    rounds: float | None = None
    passes: float | None = None
    algorithm: str | None = None


class CollectiveLines(Struct, frozen=True, kw_only=True):
    """A collective under one MPI over its sizes. `missed` is the largest relative error of its lines."""

    op: str
    mpi: str | None
    ranks: int
    method: str
    params: Params
    lines: tuple[CollectiveLine, ...]
    missed: float


def collective_lines_of(rows: Sequence[Row]) -> tuple[CollectiveLines, ...]:
    """Model every collective of six sizes or more, in the order of the rows."""
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
    """Find the only algorithm with this cost; None if there are several, or the cost is not known."""
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
