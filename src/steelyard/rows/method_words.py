"""What the value of a row means by its method, in words. The engine describes the methods themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.records.kinds import LOWER, UPPER
from steelyard.results.facets import ClockError, Messages, Timer, Watched, Windows
from steelyard.results.row import Row
from steelyard.rows.words import interval_words

LEAST_PAID = 0.02  # of a message: a smaller cost of the clock is not named
MOST_ERROR = 10.0  # medians: with a wider error, the interval says enough
AT_MOST, AT_LEAST = "≤", "≥"


def _synchronised_words(row: Row) -> Iterator[str]:
    """`466 – 480 ns ±23 ns`: from the last start, from the first, and the error of sample and clocks."""
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


def method_details(row: Row) -> Iterator[str]:
    """Say what the method adds to the value: messages there and back, the path, the error of clocks."""
    if row.get(Messages) != Messages():
        return _message_words(row)
    if row.get(Watched).path is not None:
        return _path_words(row)
    return _bounds_words(row) if row.bound == UPPER else _synchronised_words(row)


def bound_sign(row: Row) -> str:
    """Give `≤` or `≥` before a bound; nothing before an estimate."""
    return {UPPER: AT_MOST, LOWER: AT_LEAST}.get(row.bound or "", "")


def sees_ranks(row: Row) -> bool:
    """Does its method see which rank is last? One that measures one path or single messages does not."""
    return row.bound is None and row.get(Watched).path is None and row.get(Messages) == Messages()


def shared_nature(rows: Iterable[Row]) -> str:
    """Give the nature of the rows if all have one method and one nature; else nothing."""
    natures = {(row.method, row.nature) for row in rows}
    return (natures.pop()[1] or "") if len(natures) == 1 else ""
