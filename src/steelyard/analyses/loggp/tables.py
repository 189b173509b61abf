"""The cost of a message by its size, as a table: the lines of each MPI, and where they change."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.loggp.model import LogModel, LogPiece
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, remark, words
from steelyard.rows.words import number_interval
from steelyard.stats import Interval

LEAST_SIZES = 6  # of ping-pong, for a table of its own: fewer show no changes
_LEAST_LAUNCHES = 2  # one has no interval, and its lines are no claim

_NO_START = "L + 2 o cannot be seen beside s G"
_CURVE = "perhaps a curve: --bytes 0 would tell L + 2 o"
_BEND = "no jump in most launches: a bend, or launches with several modes"


def message_tables(log_models: Sequence[LogModel]) -> tuple[Table, ...]:
    """Table the lines of MPIs whose ping-pong has six sizes or more, and two launches."""
    models = [
        model
        for model in log_models
        if len(model.sizes) >= LEAST_SIZES and len(model.launches) >= _LEAST_LAUNCHES
    ]
    return (log_table(models),) if models else ()


def log_table(models: Sequence[LogModel]) -> Table:
    """Make a line for each protocol of each MPI; a single MPI is named in the title."""
    several = len({model.mpi for model in models}) > 1
    return Table(
        title="LogGP of each MPI" if several else f"LogGP of {models[0].mpi}",
        explained="a message of s bytes takes L + 2 o + s G; a new line where the protocol changes; from "
        "ping-pong, fitted to each launch by itself; fit error: the most by which a time misses its line",
        columns=(
            *([words("MPI")] if several else []),
            words("messages"),
            *map(number, ("L + 2 o", "interval", "G, ns/byte", "interval", "fit error")),
            remark(),
        ),
        lines=plain_lines(
            (
                *([model.mpi] if several else []),
                _from_words(piece),
                *_time_cells(piece.start),
                f"{piece.gap.value:.3g}",
                number_interval(piece.gap),
                f"{100 * model.missed:.0f} %",
                _remark(piece),
            )
            for model in models
            for piece in model.pieces
        ),
        grouped=int(several),
    )


def _remark(piece: LogPiece) -> str:
    """The MPI's limits near the beginning of a line, and whether the line begins with a jump."""
    limits = f"MPI's limits near it: {', '.join(piece.stated)}" if piece.stated else ""
    no_start = "" if _has_start(piece.start) else _NO_START
    bend = _BEND if piece.after is not None and not piece.jumps else ""
    curve = _CURVE if piece.curved else ""
    return "; ".join(part for part in (limits, no_start, curve, bend) if part)


def _from_words(piece: LogPiece) -> str:
    """`from 16 KiB`; `from 4033 B on, 4032 B not` if the change is known to the byte."""
    words_ = f"from {format_bytes(piece.least)}"
    if piece.after is None or piece.least - piece.after > 1 or not piece.jumps:
        return words_
    return f"from {piece.least} B on, {piece.after} B not"


def _has_start(span: Interval) -> bool:
    """Is the start known? Not if every launch's fit held it at 0."""
    return span.value > 0 or bool(span.low)


def _time_cells(span: Interval) -> tuple[str, str]:
    """Format the start; dashes if every launch's fit held it at 0, because then it is not known."""
    if not _has_start(span):
        return NOTHING, NOTHING
    if span.low == 0:
        return f"≤ {format_time(span.high or 0.0)}", NOTHING
    if span.low is None or span.high is None:
        return format_time(span.value), NOTHING
    return format_time(span.value), f"{format_time(span.low)} – {format_time(span.high)}"
