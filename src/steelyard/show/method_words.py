"""What the number of a method is, in words: for tables, the report and whoever has never heard of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.results.facets import ClockError, Messages, Timer, Watched, Windows
from steelyard.results.row import Row
from steelyard.show.figure_groups import COLLECTIVES, base_op
from steelyard.show.words import interval_words

LEAST_PAID = 0.02  # of a message, from which what its clock cost is named
MOST_ERROR = 10.0  # medians: of a wider error the interval beside it says enough
AT_MOST, AT_LEAST = "≤", "≥"


def is_collective(row: Row) -> bool:
    """Whether the op is a collective, in any form, of several ranks."""
    return row.ranks > 1 and base_op(row.op)[0].rpartition(".")[2] in COLLECTIVES


def _nothing(_: Row) -> Iterator[str]:
    return iter(())


def _synchronised_words(row: Row) -> Iterator[str]:
    """`466 – 480 ns ±23 ns`: from the last start, from the first, and what sample and clocks leave open."""
    windows, error = row.get(Windows), row.get(ClockError).error_ns
    if row.time is not None and windows.low_ns is not None and error is not None:
        least = min(windows.low_ns, row.time)
        low, high = format_time(least), format_time(row.time)
        took = high if low == high else interval_words(least, row.time)
        if error <= MOST_ERROR * row.time:
            took += f" ±{format_time(error)}"
        yield took
    else:
        yield from _clock_words(row)


def _clock_words(row: Row) -> Iterator[str]:
    error = row.get(ClockError).clock_error_ns
    if error is not None:
        yield f"clocks ±{format_time(error)}"


def _message_words(row: Row) -> Iterator[str]:
    """`there 251 ns, back 262 ns`, `clocks ±23 ns`, `the clock costs 22 ns a message, subtracted`."""
    messages, cost = row.get(Messages), row.get(Timer).overhead
    if messages.pairs:
        medians = [pair.median for pair in messages.pairs]
        slow = max(messages.pairs, key=lambda pair: pair.median)
        yield (
            f"pairs from {format_time(min(medians))} to {format_time(max(medians))}, "
            f"the slowest {slow.low}-{slow.high}"
        )
    if messages.ways is not None:
        there, back = map(format_time, messages.ways)
        yield f"there {there}, back {back}"
    yield from _clock_words(row)
    if cost and row.time is not None and cost >= LEAST_PAID * row.time:
        yield f"the clock costs {format_time(cost)} a message, subtracted"


def _path_words(row: Row) -> Iterator[str]:
    """`rank 0 → rank 15, 8 loops`."""
    path = row.get(Watched).path
    if path is not None:
        yield f"rank {path.late} → rank {path.observer}, {counted(path.loops, 'loop')}"


def _bounds_words(row: Row) -> Iterator[str]:
    """`at least 126 ns, at most 1.18 us`."""
    if row.time is not None:
        low = row.get(Windows).low_ns
        least = f"at least {format_time(low)}, " if low is not None else ""
        yield f"{least}at most {format_time(row.time)}"


@dataclass(frozen=True, slots=True)
class MethodWords:
    """What the number of a method is.

    `meaning` is for a reader who has never heard of it; `nature` says in a few words why it is not simply
    what the operation takes, of collectives alone where `is_of_collectives`; `sign` is that of a bound;
    `details` says more of a row. Where a method is blind to which rank is last, `sees_ranks` is false.
    """

    meaning: str
    nature: str = ""
    is_of_collectives: bool = False
    sign: str = ""
    details: Callable[[Row], Iterator[str]] = _nothing
    sees_ranks: bool = True


_LATENCY = "From when the first rank starts until the last has completed, on synchronised clocks"
_PATH = (
    "One rank starts last and one reports completion, without a common clock. The times of their "
    "messages are subtracted."
)
METHODS = {
    "batch": MethodWords(
        "Repetitions back to back between two timestamps. A collective then overlaps with itself: the "
        "number is its throughput.",
        nature="throughput, not latency",
        is_of_collectives=True,
    ),
    "root": MethodWords(
        "The time of a call on rank 0, repeated back to back.", nature="overhead, not a latency"
    ),
    "rank": MethodWords(
        "The time of a call on the rank where it takes longest, repeated back to back.",
        nature="overhead, not a latency",
    ),
    "barrier": MethodWords(
        "One call after each barrier of Steelyard's own: the longest of the ranks' own times, biased by how "
        "far apart ranks leave the barrier.",
        nature="biased by the barrier",
    ),
    "library-barrier": MethodWords(
        "One call after each MPI_Barrier, as in OSU and IMB: the longest of the ranks' own times, biased by "
        "how far apart ranks leave the library's barrier.",
        nature="biased by the barrier",
    ),
    "truth": MethodWords("In simulation: all ranks enter at one true instant, until the last has left."),
    "epoch": MethodWords(
        f"{_LATENCY}. Calls start at random instants; clocks are synchronised before and after each block.",
        details=_synchronised_words,
    ),
    "window": MethodWords(
        f"{_LATENCY}. Calls start in consecutive windows; clocks are synchronised once, and drift.",
        details=_synchronised_words,
    ),
    "round-time": MethodWords(
        f"{_LATENCY}. Rank 0 broadcasts the instant before each call.", details=_synchronised_words
    ),
    "each": MethodWords(
        "Every message by itself, one way, on synchronised clocks. A difference of there and back below the "
        "clocks' error means nothing.",
        details=_message_words,
        sees_ranks=False,
    ),
    "ack": MethodWords(
        f"{_PATH} Every rank was tried. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "bisected-ack": MethodWords(
        f"{_PATH} The rank that reports last was found by halving. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "trigger": MethodWords(
        f"{_PATH} The rank whose late start matters most was found by halving. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "trigger-ack": MethodWords(
        f"{_PATH} Halving found the rank that reports first, then the one that starts last. A lower bound "
        "of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "bounds": MethodWords(
        "At most the time of a call and a barrier together, at least the time of a call back to back. The "
        "truth lies between; neither end is an estimate.",
        nature="not an estimate",
        sign=AT_MOST,
        details=_bounds_words,
        sees_ranks=False,
    ),
}
_UNKNOWN = MethodWords("A method that this version does not know.", details=_clock_words)


def method_words(row: Row) -> MethodWords:
    """The line of the table for a row's method."""
    return METHODS.get(row.method, _UNKNOWN)


def nature(row: Row) -> str:
    """Why a row's number is not simply what the operation takes: `throughput, not latency`; or nothing."""
    words = method_words(row)
    fits = is_collective(row) if words.is_of_collectives else row.ranks > 1
    return words.nature if fits else ""


def shared_nature(rows: Iterable[Row]) -> str:
    """The nature of all rows, of one method, where they have one and the same; else nothing."""
    natures = {(row.method, nature(row)) for row in rows}
    return natures.pop()[1] if len(natures) == 1 else ""
