"""A rank that waits for messages which come now and then: what it burns, and how late it learns of them.

Messages are due at a rate (method `open-loop`), so that the receiver waits for the time between two of them.
The receiver's context switches to wait and its calls of sched_yield() tell how the library waits, its CPU
time what that costs: one that blocks sleeps in the kernel and is woken by an interrupt; one that spins never
leaves its CPU; one that yields never sleeps, and offers the CPU at each look. Switches and calls do not
depend on others, who may take the CPU from a rank that spins.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Messages, OfferedLoad, ResourceUse, Samples
from steelyard.results.row import Row
from steelyard.rows.labels import told_params
from steelyard.stats import Interval

LEAST_WAIT_NS = 10e3  # a message that comes sooner is not waited for
RECEIVER = 1  # of two ranks; of pairs at once it is that of the first pair
SLEEPS = 0.25  # switches to wait for a message: who makes fewer does not sleep
BURNS = 0.5  # of a CPU: who takes more and yet sleeps, spins at first
SPINS, YIELDS, BLOCKS, BOTH, CANNOT_TELL = "spins", "yields", "blocks", "spins, blocks", "cannot tell"
QUEUES = "queues"  # messages come later than the next is due, so that nobody waits
OVERLOAD = "overload"  # fewer come than are offered, so that their queue grows
KEPT_UP = 0.95  # of the messages that are offered: whoever takes as many is not overloaded


class Waiting(Struct, frozen=True, kw_only=True):
    """A receiver that waits for `wait` ns for each message; `woken` and `p99` are ns from when it was due,
    `came` is how many came in a second.

    `burnt` is its CPU time over the time that passed, `system` the part of that inside the kernel (of all
    ranks); `switches` are its own, of a message, and `yields` the mean of all ranks'. `way` says how it
    waits.
    """

    op: str
    mpi: str | None
    bytes: int
    placement: str | None
    env: dict[str, str]
    params: Params
    wait: float
    woken: Interval
    came: Interval
    p99: float | None
    burnt: float | None
    system: float | None
    switches: float | None
    yields: float | None
    cycles: float | None
    energy: float | None
    way: str


def waitings(rows: Sequence[Row]) -> tuple[Waiting, ...]:
    """Take each rate at which a receiver waits, in the order of the rows."""
    timed = [row for row in rows if row.get(OfferedLoad).offered_rate is not None and row.status == "ok"]
    receivers = [_of(row, row.get(OfferedLoad).offered_rate or 1.0, timed) for row in timed]
    return tuple(wait for wait in receivers if wait.wait >= LEAST_WAIT_NS)


def _of(row: Row, rate: float, among: Sequence[Row]) -> Waiting:
    used, load = row.get(ResourceUse), row.get(OfferedLoad)
    burnt, switches = (_of_receiver(row, ranks) for ranks in (used.rank_cpu_shares, used.rank_switches))
    came = Interval(load.came_rate or rate, load.came_low, load.came_high)
    return Waiting(
        op=row.op,
        mpi=row.mpi,
        bytes=row.bytes,
        placement=row.placed_text,
        env=row.env,
        params=told_params(row, among),
        wait=1e9 / rate,
        woken=Interval(row.time or 0.0, row.time_low, row.time_high),
        came=came,
        p99=row.get(Samples).p99 if row.get(Samples).p99_low is not None else None,
        burnt=burnt,
        system=used.system_share,
        switches=switches,
        yields=used.yields,
        cycles=used.cycles,
        energy=used.energy_j,
        way=_queue(row.time or 0.0, came, rate) or way_of(burnt, switches, used.yields),
    )


def _queue(late: float, came: Interval, rate: float) -> str | None:
    """Say that messages queue; None where they come before the next is due."""
    if late <= 1e9 / rate:
        return None
    most = came.value if came.high is None else came.high
    return OVERLOAD if most < KEPT_UP * rate else QUEUES


def _of_receiver(row: Row, ranks: Sequence[float]) -> float | None:
    """Take what the higher rank of a pair has, which receives."""
    pairs = row.get(Messages).pairs
    receiver = pairs[0].high if pairs else RECEIVER
    return ranks[receiver] if len(ranks) > receiver else None


def way_of(burnt: float | None, switches: float | None, yields: float | None) -> str:
    """Tell how a rank waits from its CPU time, its switches to wait and calls of sched_yield() a message."""
    if burnt is None or switches is None:
        return CANNOT_TELL
    if switches >= SLEEPS:
        return BLOCKS if burnt < BURNS else BOTH
    return YIELDS if yields is not None and yields >= 1 else SPINS
