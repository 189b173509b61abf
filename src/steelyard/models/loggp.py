"""LogGP from ping-pong: the cost of a message by its size, for each MPI, with intervals over launches.

A message of s bytes takes (L + 2 o) + s G from rank to rank (Alexandrov and others 1995), with L the latency,
o the overhead of either side and G the gap per byte. Ping-pong sees only the sum of L and 2 o. An MPI that
sends long messages by another protocol has another line for them. There are up to three lines, cut where the
error of one line exceeds the scatter of launches (see `stats.find_breaks`). The medians over launches give
the cuts. The lines are then fitted to each launch by itself, and an interval is that of the launches' own
values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.facets import Limits
from steelyard.results.key import key_of
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row
from steelyard.stats import Interval, Piece, find_breaks, fit_pieces, launch_interval, pieces_at

LEAST_SIZES = 3  # fewer make no line that can be checked
MOST_HEADER = 128  # bytes of a message that are not the program's
LEAST_JUMP = 0.03  # of the time at a change: a smaller one is no jump
_MOST = 0.75  # of the launches


class LogPiece(Struct, frozen=True):
    """A line from `least` bytes on: `start` is L + 2 o in ns, `gap` is G in ns per byte.

    `after` is the next smaller measured size, None for the first line. `stated` are the library's limits
    there: at `after`, or up to `MOST_HEADER` bytes above, because a limit may include a header. `jumps`: most
    launches jump between the two sizes, all the same way, so that these can be named. Without jumps, a line
    may begin where launches have several modes at some sizes.
    """

    least: int
    start: Interval
    gap: Interval
    after: int | None = None
    stated: tuple[str, ...] = ()
    jumps: bool = False


class LogModel(Struct, frozen=True):
    """The lines of one MPI, over `sizes` of ping-pong. `launches` are the lines of each launch by its number.

    `missed` is the greatest relative distance of the medians over launches from their lines.
    """

    mpi: str
    sizes: tuple[int, ...]
    pieces: tuple[LogPiece, ...]
    missed: float
    launches: dict[int, tuple[Piece, ...]]


def span_of(values: Sequence[float], *, logs: bool = True) -> Interval:
    """Compute the median of the launches' values, with its interval (one value has none), see
    `launch_interval`.

    Raises ValueError without values.
    """
    if not values:
        raise ValueError("a span needs a launch")
    if len(values) == 1:
        return Interval(float(values[0]))
    estimate = launch_interval(values, logs=logs)
    return Interval(estimate.value, estimate.low, estimate.high)


def is_pingpong(row: Row) -> bool:
    """Is it a row of messages there and back over MPI?"""
    return row.layer == MPI and row.role == LATENCY


def launch_medians(row: Row) -> dict[int, float]:
    """Map launch numbers to medians above 0, in ns."""
    return {one.launch: one.median for one in row.launches if one.status == "ok" and one.median}


def log_models(rows: Iterable[Row]) -> tuple[LogModel, ...]:
    """Model each MPI whose ping-pong was measured at three sizes or more, by its longest series.

    Empty messages count as of 0 bytes. Launches that lack a size are left out.
    """
    series: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        if is_pingpong(row) and row.status == "ok" and row.mpi is not None and launch_medians(row):
            series.setdefault((row.mpi, *key_of(row, ("mpi", "bytes"))), {}).setdefault(row.bytes, row)
    best: dict[str, dict[int, Row]] = {}
    for (mpi, *_), sizes in series.items():
        if len(sizes) > len(best.get(str(mpi), ())):
            best[str(mpi)] = sizes
    models = (line_model(mpi, sizes) for mpi, sizes in best.items() if len(sizes) >= LEAST_SIZES)
    return tuple(model for model in models if model is not None)


def line_model(mpi: str, rows: Mapping[int, Row]) -> LogModel | None:
    """Fit the lines through rows by their size; None if no launch has all of them."""
    sizes = sorted(rows)
    medians = [launch_medians(rows[size]) for size in sizes]
    shared = sorted(set.intersection(*(set(one) for one in medians)))
    if not shared:
        return None
    times = [float(np.median([one[launch] for launch in shared])) for one in medians]
    breaks = find_breaks(sizes, [[one[launch] for one in medians] for launch in shared])
    launches = {launch: fit_pieces(sizes, [one[launch] for one in medians], breaks) for launch in shared}
    middle = fit_pieces(sizes, times, breaks)
    limits = next((told for row in rows.values() if (told := row.get(Limits).limits)), {})
    missed = np.abs(pieces_at(middle, np.asarray(sizes, dtype=np.float64)) / np.asarray(times) - 1.0)
    return LogModel(
        mpi=mpi,
        sizes=tuple(sizes),
        pieces=tuple(
            LogPiece(
                piece.least,
                span_of([lines[i].start for lines in launches.values()]),
                span_of([lines[i].slope for lines in launches.values()]),
                **_change(piece.least, dict(zip(sizes, medians, strict=True)), limits),
            )
            for i, piece in enumerate(middle)
        ),
        missed=float(missed.max()),
        launches=launches,
    )


def _change(
    least: int, medians: Mapping[int, Mapping[int, float]], limits: Mapping[str, float]
) -> dict[str, Any]:
    """Describe the size at which a line begins; `medians` are those of launches, by size."""
    sizes = list(medians)
    if least == sizes[0]:
        return {}
    after = sizes[sizes.index(least) - 1]
    stated = (f"{name}={value:g}" for name, value in limits.items() if after <= value <= least + MOST_HEADER)
    return {"after": after, "stated": tuple(stated), "jumps": _jumps(medians[after], medians[least])}


def _jumps(below: Mapping[int, float], above: Mapping[int, float]) -> bool:
    """Do most launches have at least half of the median jump from one size to the next?"""
    logs = np.log([above[launch] / below[launch] for launch in below if launch in above])
    jump = float(np.median(logs)) if logs.size else 0.0
    return bool(abs(jump) > math.log1p(LEAST_JUMP) and np.mean(logs / jump >= 0.5) >= _MOST)


def rounds_of(ranks: int) -> int:
    """Count the rounds of a collective in which every rank hears of every other: log2 of the ranks, rounded
    up.
    """
    return (ranks - 1).bit_length()


def communication_ns(pieces: Sequence[Piece], counts: RowPhases, ranks: int) -> float:
    """Predict the time of a rank's messages and collectives one after the other, in ns per repetition.

    A message of the mean size costs what its line says. A collective costs log2 P rounds of L + 2 o, and G
    for all its bytes except those for the rank itself, a P-th of them. Its line is that of a P-th of its mean
    size.
    """
    total = 0.0
    if counts.messages > 0:
        line = _line(pieces, counts.bytes / counts.messages)
        total += counts.messages * line.start + counts.bytes * line.slope
    if counts.collectives > 0 and ranks > 1:
        line = _line(pieces, counts.collective_bytes / counts.collectives / ranks)
        total += counts.collectives * rounds_of(ranks) * line.start
        total += counts.collective_bytes * (ranks - 1) / ranks * line.slope
    return total


def _line(pieces: Sequence[Piece], size: float) -> Piece:
    return next((piece for piece in reversed(pieces) if piece.least <= size), pieces[0])
