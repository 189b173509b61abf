"""LogGP from ping-pong: the cost of a message by its size, for each MPI, with intervals over launches.

A message of s bytes takes (L + 2 o) + s G from rank to rank (Alexandrov and others 1995), with L the latency,
o the overhead of either side and G the gap per byte. Ping-pong sees only the sum of L and 2 o. An MPI that
sends long messages by another protocol has another line for them. There are up to three lines, cut where the
error of one line exceeds the scatter of launches (see `stats.find_breaks`). The medians over launches give
the cuts. The lines are then fitted to each launch by itself, and an interval is that of the launches' own
values. Costs that are no line miss their lines by more than launches scatter: what such a line misses is in
the intervals, too (`_misfit`). Below the smallest size a line says nothing of a curve: where the first two
lines are parts of one, the interval of the first start reaches down as far as that curve may (`_drop`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from steelyard.results.facets import Limits
from steelyard.results.key import key_of
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row, launch_medians, likeness_of
from steelyard.results.row_kinds import is_pingpong
from steelyard.results.sittings import sittings_of
from steelyard.stats import Interval, Piece, find_breaks, fit_pieces, pieces_at, span_of
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import Likeness
from steelyard.stats.fast_stats import middle
from steelyard.stats.line_fits import f_tail, median_noise

LEAST_SIZES = 3  # fewer make no line that can be checked
MOST_HEADER = 128  # bytes of a message that are not the program's
LEAST_JUMP = 0.03  # of the time at a change: a smaller one is no jump
_TO_ITSELF = "btl_self_"  # begins the names of limits on messages of a rank to itself
_MOST = 0.75  # of the launches
_BY_CHANCE = 0.05  # p of a misfit that scatter may explain
_MOST_SAG = 0.25  # of the time: where two lines of a curve meet, the second is as much below the first
_CURVE_MARGIN = 2.0  # two lines tell a curve roughly: by simulation (tests/unit/test_loggp.py)
_LEAST_EXPONENT = 0.4  # of s in a curve that two lines can tell; a steeper one may start anywhere


class LogPiece(Struct, frozen=True):
    """A line from `least` bytes on: `start` is L + 2 o in ns, `gap` is G in ns per byte.

    `after` is the next smaller measured size, None for the first line. `stated` are the library's limits
    there: at `after`, or up to `MOST_HEADER` bytes above, because a limit may include a header. `jumps`: most
    launches jump between the two sizes, all the same way, so that these can be named. Without jumps, a line
    may begin where launches have several modes at some sizes. `curved`: this line and the next may be parts
    of a curve, so that what no bytes take is less certain than any time that was measured.
    """

    least: int
    start: Interval
    gap: Interval
    after: int | None = None
    stated: tuple[str, ...] = ()
    jumps: bool = False
    curved: bool = False


class LogModel(Struct, frozen=True):
    """The lines of one MPI, over `sizes` of ping-pong. `launches` are the lines of each launch by its number.

    `missed` is the greatest relative distance of the medians over launches from their lines.
    """

    mpi: str
    sizes: tuple[int, ...]
    pieces: tuple[LogPiece, ...]
    missed: float
    launches: dict[int, tuple[Piece, ...]]


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
    shared = sorted(set.intersection(*(set(median) for median in medians)))
    if not shared:
        return None
    times = [middle([median[launch] for launch in shared]) for median in medians]
    breaks = find_breaks(sizes, [[median[launch] for median in medians] for launch in shared])
    launches = {
        launch: fit_pieces(sizes, [median[launch] for median in medians], breaks) for launch in shared
    }
    typical = fit_pieces(sizes, times, breaks)
    table = {
        size: np.array([one[launch] for launch in shared]) for size, one in zip(sizes, medians, strict=True)
    }
    limits = next((told for row in rows.values() if (told := row.get(Limits).limits)), {})
    missed = np.abs(pieces_at(typical, np.asarray(sizes, dtype=np.float64)) / np.asarray(times) - 1.0)
    parts = _parts(sizes, typical)
    began = {launch.launch: launch.began_unix_ns or 0 for row in rows.values() for launch in row.launches}
    sittings = sittings_of([began[launch] for launch in shared])
    alike = likeness_of(rows.values())
    pieces = tuple(
        LogPiece(
            piece.least,
            *_spans([lines[i] for lines in launches.values()], inside, table, sittings, alike),
            **_change(piece.least, dict(zip(sizes, medians, strict=True)), limits),
        )
        for i, (piece, inside) in enumerate(zip(typical, parts, strict=True))
    )
    return LogModel(
        mpi=mpi,
        sizes=tuple(sizes),
        pieces=_with_curve(pieces, typical, parts),
        missed=float(missed.max()),
        launches=launches,
    )


def _parts(sizes: Sequence[int], pieces: Sequence[Piece]) -> list[list[int]]:
    """List the sizes of each line."""
    ends = [*(piece.least for piece in pieces[1:]), math.inf]
    return [
        [size for size in sizes if piece.least <= size < end] for piece, end in zip(pieces, ends, strict=True)
    ]


def _spans(
    lines: Sequence[Piece],
    sizes: Sequence[int],
    table: Mapping[int, FloatArray],
    sittings: Sequence[int],
    alike: Likeness,
) -> tuple[Interval, Interval]:
    """Compute L + 2 o and G of one line, fitted to each launch, with what it misses in their intervals.

    `table` has the times of launches, by size, `sittings` the number of each launch's sitting; `alike` is how
    alike launches of the folder are. If all times may be a share m from the line, two of them may tilt it by
    m (t1 + t2) / (s2 - s1). The tilt of G is that between the largest two sizes, where G counts; that of the
    start, which is where the line reaches 0 bytes, is that of the whole line.
    """
    start = span_of([line.start for line in lines], groups=(sittings,), alike=alike)
    gap = span_of([line.slope for line in lines], groups=(sittings,), alike=alike)
    missed = _misfit(lines, sizes, table)
    if not missed:
        return start, gap
    times = {size: middle(table[size]) for size in sizes}

    def tilt(one: int, two: int) -> float:
        return missed * (times[one] + times[two]) / (two - one)

    least = missed * times[sizes[0]] + tilt(sizes[0], sizes[-1]) * sizes[0]
    return _wider(start, least), _wider(gap, tilt(*sizes[-2:]))


def _misfit(lines: Sequence[Piece], sizes: Sequence[int], table: Mapping[int, FloatArray]) -> float:
    """Find the largest share by which the launches' mean misses the line; 0 if their scatter explains it.

    An F test compares the mean square of what is missed with the noise of such means (`median_noise`); a true
    line is called none in one of twenty, and its intervals are then wider than they must be.
    """
    freedom = len(sizes) - 2
    if len(lines) < 2 or freedom < 1:
        return 0.0
    times = np.stack([table[size] for size in sizes], axis=1)
    fitted = np.array([[line.at(size) for size in sizes] for line in lines], dtype=np.float64)
    missed = np.log(times / fitted).mean(axis=0)
    noise, noise_freedom = median_noise(times)
    of_means = noise**2 * 2 / math.pi
    square = float(np.sum(missed**2)) / freedom
    if square == 0 or (of_means and f_tail(freedom, noise_freedom, square / of_means) > _BY_CHANCE):
        return 0.0
    return math.expm1(float(np.abs(missed).max()))


def _with_curve(
    pieces: tuple[LogPiece, ...], typical: Sequence[Piece], parts: Sequence[Sequence[int]]
) -> tuple[LogPiece, ...]:
    """Lower the interval of the first start as far as a curve may go below its line."""
    drop = _drop(typical, parts) if len(pieces) > 1 else 0.0
    first = pieces[0]
    if not drop or first.start.low is None:
        return pieces
    start = structs.replace(first.start, low=max(0.0, first.start.low - drop))
    return (structs.replace(first, start=start, curved=True), *pieces[1:])


def _drop(lines: Sequence[Piece], parts: Sequence[Sequence[int]]) -> float:
    """Compute how far a + b s^p may be below its first line at 0 bytes; 0 if the next line is no part of that
    curve, being steeper or a jump above, or if 0 bytes were measured.

    The slopes of two lines are those of the curve in the middles m of their sizes, so that their ratio gives
    p, and the first line is above a by its slope times m (1/p - 1).
    """
    first, second = lines[0].slope, lines[1].slope
    step = lines[1].at(lines[1].least) / lines[0].at(lines[1].least) - 1
    if parts[0][0] == 0 or second >= first or not -_MOST_SAG <= step <= LEAST_JUMP:
        return 0.0
    middles = [math.sqrt(part[0] * part[-1]) for part in parts[:2]]
    exponent = 1 + math.log(second / first) / math.log(middles[1] / middles[0]) if second > 0 else 0.0
    if exponent < _LEAST_EXPONENT:
        return math.inf
    return _CURVE_MARGIN * first * middles[0] * (1 / exponent - 1)


def _wider(span: Interval, by: float) -> Interval:
    """Widen an interval to both sides; no cost is below 0."""
    if span.low is None or span.high is None:
        return span
    return Interval(span.value, max(0.0, span.low - by), span.high + by)


def _change(
    least: int, medians: Mapping[int, Mapping[int, float]], limits: Mapping[str, float]
) -> dict[str, Any]:
    """Describe the size at which a line begins; `medians` are those of launches, by size."""
    sizes = list(medians)
    if least == sizes[0]:
        return {}
    after = sizes[sizes.index(least) - 1]
    stated = (
        f"{name}={value:g}"
        for name, value in limits.items()
        if after <= value <= least + MOST_HEADER and not name.startswith(_TO_ITSELF)
    )
    return {"after": after, "stated": tuple(stated), "jumps": _jumps(medians[after], medians[least])}


def _jumps(below: Mapping[int, float], above: Mapping[int, float]) -> bool:
    """Do most launches have at least half of the median jump from one size to the next?"""
    logs = np.log([above[launch] / below[launch] for launch in below if launch in above])
    jump = middle(logs) if logs.size else 0.0
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
