"""LogGP's o, g and L apart: from trains of messages, with work between them or without (Netgauge's way).

With T(n, d) the time of n messages of s bytes that begin d apart, and one back,

    g(s)  = (T(n, 0) - T(1)) / (n - 1)         the cost of one more message; over sizes it is g + (s - 1) G
    o     = (T(n, d) - T(1)) / (n - 1) - d     of the side that works for d before each message
    L     = T(1) / 2 - o(sender) - o(receiver)

if d is no shorter than T(1): then everything except o is over before the next message. If several d are
long enough, the shortest counts, because an error of d is an error of o. d is the time of the same work alone
(`self.work` in the same launches). Each launch has its own values; intervals are those over launches. A long
message by a protocol with a handshake has its latency in o, because the sender waits for the answer.

Source: T. Hoefler, A. Lichei, W. Rehm, Low-overhead LogGP parameter assessment for modern interconnection
networks, IPDPS 2007; T. Kielmann, H. Bal, K. Verstoep, Fast measurement of LogP parameters for message
passing platforms, 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from steelyard.records.kinds import WORK
from steelyard.results.key import key_of
from steelyard.results.row import Row, launch_medians
from steelyard.stats import Interval, span_of
from steelyard.stats.autocorrelation import Likeness

TRAIN = "mpi.train"
_ONE = "messages"  # the parameter of trains: the number of messages
_SENDER, _RECEIVER = "sender", "receiver"
_FREE = ("param.messages", "param.work_us", "param.side")


# MPI, ranks, work_us -> the time of the work alone, by launch
Works = Mapping[tuple[str | None, int, float], Mapping[int, float]]


class Overheads(Struct, frozen=True, kw_only=True):
    """The parameters of messages of one size under one MPI, in ns; None if they were not measured.

    `messages` are those of the trains. `short`: the work was shorter than the way there and back, so no
    overhead is known. `below` names the parameters whose values came out below 0, which no time is: they are
    None, too. An interval that reaches below 0 begins at 0.
    """

    mpi: str | None
    bytes: int
    messages: int
    gap: Interval | None = None
    send: Interval | None = None
    receive: Interval | None = None
    latency: Interval | None = None
    short: bool = False
    below: tuple[str, ...] = ()


def overheads_of(rows: Sequence[Row]) -> tuple[Overheads, ...]:
    """Model every size of every MPI with a single message and a train, in the order of the rows."""
    works = {
        (row.mpi, row.ranks, _work_us(row)): launch_medians(row)
        for row in rows
        if row.role == WORK and row.status == "ok"
    }
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.base == TRAIN and row.status == "ok" and launch_medians(row):
            groups.setdefault(key_of(row, _FREE), []).append(row)
    return tuple(overhead for members in groups.values() for overhead in _overheads(members, works))


def _overheads(members: Sequence[Row], works: Works) -> Iterator[Overheads]:
    single = next((launch_medians(row) for row in members if row.params[_ONE] == 1), None)
    counts = sorted({int(row.params[_ONE]) for row in members} - {1})
    if single is None or not counts:
        return
    count = counts[-1]
    trains = [row for row in members if row.params[_ONE] == count]
    free = next((row for row in trains if _work_us(row) == 0), None)
    gap = {} if free is None else _each(launch_medians(free), single, count)
    sides: dict[str, dict[int, float]] = {}
    short = False
    for row in sorted((row for row in trains if _work_us(row) != 0), key=_work_us):
        work = works.get((row.mpi, row.ranks, _work_us(row)))
        if work is None:
            continue
        if any(work[one] < single[one] for one in work.keys() & single.keys()):
            short = True
            continue
        more = _each(launch_medians(row), single, count)
        found = {one: more[one] - work[one] for one in more if one in work}
        sides.setdefault(str(row.params.get("side", _SENDER)), found)
    send, receive = sides.get(_SENDER, {}), sides.get(_RECEIVER, {})
    wire = {
        one: single[one] / 2 - send[one] - receive[one] for one in single if one in send and one in receive
    }
    sets = {"gap": gap, "send": send, "receive": receive, "latency": wire}
    spans = {name: _span(values, members[0].likeness) for name, values in sets.items()}
    yield Overheads(
        mpi=members[0].mpi,
        bytes=members[0].bytes,
        messages=count,
        short=short and not sides,
        below=tuple(name for name, span in spans.items() if span is not None and _is_below(span)),
        **{name: _within(span) for name, span in spans.items()},
    )


def _work_us(row: Row) -> float:
    return float(row.params.get("work_us", 0.0))


def _each(train: Mapping[int, float], single: Mapping[int, float], count: int) -> dict[int, float]:
    """Compute the cost of one more message, by launch."""
    return {one: (train[one] - single[one]) / (count - 1) for one in train if one in single}


def _span(values: Mapping[int, float], alike: Likeness) -> Interval | None:
    return span_of(list(values.values()), logs=False, alike=alike) if values else None


def _is_below(span: Interval) -> bool:
    """Is all of it at or below 0? A single value has no interval."""
    return (span.value if span.high is None else span.high) <= 0


def _within(span: Interval | None) -> Interval | None:
    """Leave out of an interval what no time can be; None if nothing is left."""
    if span is None or _is_below(span):
        return None
    return Interval(max(span.value, 0.0), span.low and max(span.low, 0.0), span.high)
