"""o, g and L from trains of messages whose times are known."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from macro_rows import row
from steelyard.analyses.overheads.model import Overheads, overheads_of
from steelyard.analyses.overheads.tables import overhead_tables
from steelyard.analyses.overlap.model import curves
from steelyard.base.units import format_time
from steelyard.records.kinds import WORK
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

L, SEND, RECEIVE, GAP = 900.0, 150.0, 250.0, 400.0
SINGLE = 2 * (L + SEND + RECEIVE)  # there and back
LAUNCHES = (0.98, 1.0, 1.02)  # each launch is slower or faster in all that it does


def train(messages: int, work_ns: float = 0.0, side: str = "sender", size: int = 8) -> Row:
    each = GAP if not work_ns else work_ns + (SEND if side == "sender" else RECEIVE)
    params = {"messages": messages, "work_us": work_ns / 1e3, "side": side}
    times = [one * (SINGLE + (messages - 1) * each) for one in LAUNCHES]
    return row("mpi.train", "a", times, bytes=size, params=params)


def waiting(
    messages: int, work_ns: float, scatter: tuple[float, ...], side: str = "receiver", more: float = 0.5
) -> Row:
    """A train whose side waits for half of a round trip in each call; `scatter` is of that in each launch."""
    params = {"messages": messages, "work_us": work_ns / 1e3, "side": side}
    times = [
        one * (SINGLE + (messages - 1) * work_ns) + (messages - 1) * more * SINGLE * again
        for one, again in zip(LAUNCHES, scatter, strict=True)
    ]
    return row("mpi.train", "a", times, bytes=8, params=params)


def work(ns: float) -> Row:
    return row("self.work", "a", [one * ns for one in LAUNCHES], params={"work_us": ns / 1e3}, role=WORK)


def only(*rows: Row) -> Overheads:
    (found,) = overheads_of(rows)
    return found


def test_all_parameters_are_found() -> None:
    one = only(train(1), train(16), train(16, 5e3), train(16, 5e3, "receiver"), work(5e3))
    assert (one.messages, one.bytes, one.short) == (16, 8, False)
    for span, true in ((one.gap, GAP), (one.send, SEND), (one.receive, RECEIVE), (one.latency, L)):
        assert span is not None
        assert span.value == pytest.approx(true)
        assert (span.low or 0.0) < true < (span.high or 0.0)
    (table,) = overhead_tables([one])
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
    assert [line.cells[3] for line in table.lines] == ["900 ns", "150 ns", "250 ns", "400 ns"]


def test_work_between_messages_makes_no_overlap() -> None:
    assert curves([train(16), train(16, 5e3), work(5e3)]) == ()


def test_what_was_not_measured_is_none() -> None:
    one = only(train(1), train(16))
    assert one.gap is not None
    assert (one.send, one.receive, one.latency) == (None, None, None)
    one = only(train(1), train(16, 5e3), work(5e3))
    assert one.send is not None
    assert (one.gap, one.latency) == (None, None)
    assert overheads_of([train(16)]) == overheads_of([train(1)]) == ()
    assert only(train(1), train(16, 5e3)).send is None  # nobody knows what the work takes
    assert overhead_tables(()) == ()


def test_work_that_is_too_short_tells_no_overhead() -> None:
    one = only(train(1), train(16), train(16, 2e3), work(2e3))
    assert one.short
    assert one.send is None
    assert "give more work_us" in overhead_tables([one])[0].lines[-1].cells[-1]


def test_the_shortest_work_that_is_long_enough_counts() -> None:
    """What 100 us add is not known as well: here they seem to cost a sender nothing."""
    long, both = (
        row("self.work", "a", [102e3] * 3, params={"work_us": 100.0}, role=WORK),
        (work(5e3), work(2e3)),
    )
    one = only(train(1), train(16, 100e3), train(16, 2e3), train(16, 5e3), *both, long)
    assert one.send is not None
    assert one.send.value == pytest.approx(SEND)
    assert not one.short


def test_nothing_takes_less_than_no_time() -> None:
    """A sender that waits in its call has the way in its overhead; of launches that scatter nobody knows."""
    one = only(train(1), train(16), train(16, 5e3), waiting(16, 5e3, (1.0, 1.0, 1.0)), work(5e3))
    assert one.latency is None
    assert one.below == ("latency",)
    (table,) = overhead_tables([one])
    latency = table.lines[0].cells[3:]
    assert latency[:2] == ("-", "-")
    assert "include a part of L" in latency[2]


def test_what_may_be_nothing_has_its_upper_bound() -> None:
    one = only(train(1), train(16), waiting(16, 5e3, (-1.0, 0.2, 1.0), "sender", 0.05), work(5e3))
    assert one.send is not None
    assert one.send.value >= 0
    assert one.send.low == 0
    assert one.send.high is not None
    (table,) = overhead_tables([one])
    assert table.lines[0].cells[3:] == (f"≤ {format_time(one.send.high)}", "-", "")


@pytest.mark.parametrize("launches", [1, 2, 3])
def test_a_latency_below_0_is_none_for_any_number_of_launches(launches: int) -> None:
    rows = (train(1), train(16), train(16, 5e3), waiting(16, 5e3, (1.0, 1.0, 1.0)), work(5e3))
    few = [replace(one, launches=one.launches[:launches]) for one in rows]
    one = only(*few)
    for name in ("gap", "send", "receive", "latency"):
        span = getattr(one, name)
        assert (name in one.below) == (span is None)
        assert span is None or min(span.value, span.low or 0.0) >= 0
    assert one.below == (() if launches == 2 else ("latency",))  # two say little of where it ends
    assert len(overhead_tables([one])) == (launches > 1)  # one has no interval, and is no claim
