"""What the network interfaces of each host moved during a test case, from their counters before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from steelyard.records.parts import HostInterfaces
from steelyard.records.schema import State


class Traffic(Struct, frozen=True, kw_only=True):
    """Bytes that an interface of a host received and sent in `seconds`: in a whole test case, with its
    set-up, warm-up, checks, and whatever else the host sent meanwhile.
    """

    host: str
    name: str
    kind: str
    state: str | None
    mbits: int | None
    received: int
    sent: int
    seconds: float


def traffic_of(states: Sequence[State]) -> dict[int, tuple[Traffic, ...]]:
    """Compute the traffic of each test case of a launch; its counters before are those after the one before.

    An interface that was made anew in between, or whose counters were set back, is left out.
    """
    return {
        after.point: tuple(_between(before, after))
        for before, after in pairwise(states)
        if after.point is not None and before.interfaces and after.interfaces
    }


def _between(before: State, after: State) -> Iterator[Traffic]:
    known = {(host.host, host.rank): host for host in before.interfaces}
    for host in after.interfaces:
        then = known.get((host.host, host.rank))
        seconds = (_at(after, host) - _at(before, host)) / 1e9
        first = {(port.kind, port.name): port for port in (then.interfaces if then else ())}
        for last in host.interfaces if seconds > 0 else ():
            was = first.get((last.kind, last.name))
            if was and was.rx_bytes <= last.rx_bytes and was.tx_bytes <= last.tx_bytes:
                yield Traffic(
                    host=host.host,
                    name=last.name,
                    kind=last.kind,
                    state=last.state,
                    mbits=last.mbits,
                    received=last.rx_bytes - was.rx_bytes,
                    sent=last.tx_bytes - was.tx_bytes,
                    seconds=seconds,
                )


def _at(state: State, host: HostInterfaces) -> int:
    """Find the instant on the clock of the rank that told of its host."""
    return state.at_ns[state.ranks.index(host.rank) if state.ranks else host.rank]
