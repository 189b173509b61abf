"""What models of rows have found, in a sentence each, for a headline.

A number is told only if its interval is no wider than `NOISY`, as those of rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from steelyard.analyses.analysis import Made
from steelyard.analyses.answer_words import is_certain
from steelyard.analyses.efficiency.row import FLOOR
from steelyard.analyses.growth.model import Growth
from steelyard.analyses.growth.row import GROWTH
from steelyard.analyses.loggp.model import LEAST_JUMP, LogModel, LogPiece
from steelyard.analyses.loggp.row import MESSAGES
from steelyard.analyses.loggp.tables import LEAST_SIZES
from steelyard.analyses.overheads.model import Overheads
from steelyard.analyses.overheads.row import OVERHEADS
from steelyard.base.plural import joined
from steelyard.base.units import format_bytes, format_time
from steelyard.results.facets import Files, Roof
from steelyard.rows.op_facts import mpi_words
from steelyard.rows.rivals import ratio_words
from steelyard.rows.row_words import NOISY
from steelyard.stats import Interval

_LEAST_LAUNCHES = 5  # that jump the same way: by chance in 1 of 16 cases
_NO_PART = "launches are too few, or differ too much, to tell L, o or g"
# The parts of LogGP that a train of messages tells, with their words.
_PARTS: tuple[tuple[str, Callable[[Overheads], Interval | None]], ...] = (
    ("L", lambda one: one.latency),
    ("o of the sender", lambda one: one.send),
    ("o of the receiver", lambda one: one.receive),
    ("gap", lambda one: one.gap),
)


def layer_sentences(made: Made) -> Iterator[str]:
    """Write what MPI adds to the layers below it: the answer where these were measured, too."""
    yield from _floor_sentences(made)
    yield from _file_sentences(made)


def model_sentences(made: Made) -> Iterator[str]:
    """Write what was asked of models: LogGP, where protocols change, growth with the ranks."""
    yield from _loggp_sentences(made)
    for model in made(MESSAGES):
        yield from _protocol_sentences(model)
    growths = made(GROWTH)
    yield from _growth_sentences(growths)


def _loggp_sentences(made: Made) -> Iterator[str]:
    """`LogGP of Open MPI 4.1.4 at 1 B: L 98.0 ns, o of the sender 71.2 ns, gap 82.1 ns; G 0.033 ns/byte.`

    It is told at the size at which most parts are certain, the smallest of those; G is that of long messages.
    """
    gaps = {model.mpi: model.pieces[-1].gap for model in made(MESSAGES)}
    by_mpi: dict[str, list[Overheads]] = {}
    for one in made(OVERHEADS):
        by_mpi.setdefault(one.mpi or "", []).append(one)
    for mpi, sizes in by_mpi.items():
        best = max(sorted(sizes, key=lambda size: size.bytes), key=lambda size: len(_certain_parts(size)))
        parts = _certain_parts(best)
        where = f" at {format_bytes(best.bytes)}" if parts else ""
        gap = gaps.get(mpi)
        per_byte = [f"G {gap.value:.3g} ns/byte"] if gap is not None and is_certain(gap) else []
        told = "; ".join([", ".join(parts), *per_byte] if parts else per_byte)
        yield f"LogGP of {mpi_words(mpi)}{where}: {told or _NO_PART}."


def _certain_parts(overheads: Overheads) -> list[str]:
    found = ((name, part(overheads)) for name, part in _PARTS)
    return [f"{name} {format_time(span.value)}" for name, span in found if span and is_certain(span)]


def _protocol_sentences(model: LogModel) -> Iterator[str]:
    """`Open MPI 4.1.4: another protocol begins at 4033 B (btl_vader_eager_limit=4096).`"""
    if len(model.sizes) < LEAST_SIZES or len(model.launches) < _LEAST_LAUNCHES:
        return
    told = [words for piece in model.pieces if (words := _change_words(piece))]
    if told:
        subject = "another protocol begins" if len(told) == 1 else "other protocols begin"
        yield f"{mpi_words(model.mpi)}: {subject} {joined(told)}."


def _change_words(piece: LogPiece) -> str:
    """`at 4033 B`; nothing where the sizes are so far apart that a line without a jump rises as much."""
    if piece.after is None or not piece.jumps or piece.least > (1 + LEAST_JUMP / 2) * piece.after:
        return ""
    limit = f" ({', '.join(piece.stated)})" if piece.stated else ""
    if piece.least - piece.after == 1:
        return f"at {piece.least} B{limit}"
    return f"between {piece.after} B and {piece.least} B{limit}"


def _growth_sentences(growths: Sequence[Growth]) -> Iterator[str]:
    """`mpi.allreduce of Open MPI 4.1.4 on 16 ranks, by its model: 12.1 us at 8 B, 140 us at 64 KiB.`"""
    groups: dict[tuple[str, str, int], list[str]] = {}
    for growth in growths:
        soon = growth.ahead[0]
        if is_certain(soon.time):
            words = f"{format_time(soon.time.value)} at {format_bytes(growth.bytes)}"
            groups.setdefault((growth.op, growth.mpi or "", soon.ranks), []).append(words)
    for (op, mpi, ranks), told in groups.items():
        ends = ", ".join(dict.fromkeys((told[0], told[-1])))
        yield f"{op}{f' of {mpi_words(mpi)}' if mpi else ''} on {ranks} ranks, by its model: {ends}."


def _floor_sentences(made: Made) -> Iterator[str]:
    """`mpi.pingpong of MPICH 5.0.2 takes 1.2 to 2.4 times as long as the fastest layer below MPI.`"""
    groups: dict[tuple[str, str], list[float]] = {}
    for one in made(FLOOR):
        if one.efficiency and one.low and one.high and one.high / one.low <= (1 + NOISY) ** 2:
            groups.setdefault((one.op, one.mpi or ""), []).append(1 / one.efficiency)
    for (op, mpi), found in groups.items():
        span = " to ".join(dict.fromkeys(ratio_words(end(found)) for end in (min, max)))
        yield f"{op} of {mpi_words(mpi)} takes {span} times as long as the fastest layer below MPI."


def _file_sentences(made: Made) -> Iterator[str]:
    """`MPI-IO of Open MPI 4.1.4 reaches 61 % (mpi.io.write_shared, 4 KiB) to 95 % (mpi.io.read_at, 1 MiB) of
    the same pieces without MPI.`
    """
    groups: dict[str, list[tuple[float, str]]] = {}
    for row in made.rows:
        found = row.get(Roof)
        if row.get(Files).below is None or found.of_roof is None:
            continue
        if (
            found.of_roof_low
            and found.of_roof_high
            and found.of_roof_high / found.of_roof_low <= (1 + NOISY) ** 2
        ):
            groups.setdefault(row.mpi or "", []).append(
                (found.of_roof, f"{row.op}, {format_bytes(row.bytes)}")
            )
    for mpi, shares in groups.items():
        ends = dict.fromkeys(f"{100 * share:.0f} % ({what})" for share, what in (min(shares), max(shares)))
        yield f"MPI-IO of {mpi_words(mpi)} reaches {' to '.join(ends)} of the same pieces without MPI."
