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
    cpus: str | None = None
    received: int
    sent: int
    seconds: float


class Resent(Struct, frozen=True):
    """Segments of TCP that a host sent during a test case, and those of them that it sent again."""

    host: str
    sent: int
    again: int


class RankPorts(Struct, frozen=True):
    """The names of the interfaces by which a rank was connected to others when a test case had ended."""

    rank: int
    names: tuple[str, ...]


class NetworkUse(Struct, frozen=True):
    """What the hosts and ranks of a launch tell of a test case between hosts."""

    traffic: tuple[Traffic, ...] = ()
    resent: tuple[Resent, ...] = ()
    ports: tuple[RankPorts, ...] = ()


def network_of(states: Sequence[State]) -> dict[int, NetworkUse]:
    """Take what each test case of a launch did to counters, and the ports of its ranks at its end."""
    traffic = traffic_of(states)
    networks = {}
    for before, after in pairwise(states):
        if after.point is not None and (before.interfaces and after.interfaces):
            ports = tuple(
                RankPorts(after.rank(i), tuple(filter(None, names.split(","))))
                for i, names in enumerate(after.ports)
            )
            networks[after.point] = NetworkUse(traffic[after.point], tuple(_resent(before, after)), ports)
    return networks


def _resent(before: State, after: State) -> Iterator[Resent]:
    known = {host.host: (host.tcp_sent, host.tcp_resent) for host in before.interfaces}
    for host in after.interfaces:
        sent, again = known.get(host.host, (None, None))
        if sent is None or again is None or host.tcp_sent is None or host.tcp_resent is None:
            continue
        if sent <= host.tcp_sent and again <= host.tcp_resent:
            yield Resent(host.host, host.tcp_sent - sent, host.tcp_resent - again)


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
                    cpus=last.cpus,
                    received=last.rx_bytes - was.rx_bytes,
                    sent=last.tx_bytes - was.tx_bytes,
                    seconds=seconds,
                )


def _at(state: State, host: HostInterfaces) -> int:
    """Find the instant on the clock of the rank that told of its host."""
    return state.at_ns[state.ranks.index(host.rank) if state.ranks else host.rank]
