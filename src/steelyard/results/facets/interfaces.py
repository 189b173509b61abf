"""The network interfaces of hosts and ranks: what each moved in a test case, who is connected by which."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined, middle
from steelyard.results.row import Facet
from steelyard.results.traffic import Traffic
from steelyard.stats import Interval


class RowInterface(Struct, frozen=True, kw_only=True):
    """An interface of a host; `received` and `sent` are bytes of a launch of the test case and `seconds` how
    long that took, with set-up, warm-up and checks: medians over launches.

    `kind`: net, infiniband. `state`, `mbits`, the line rate, and `cpus`, those near its device, are what the
    system stated in the last launch; None: nothing.
    """

    host: str
    name: str
    kind: str
    state: str | None
    mbits: int | None
    cpus: str | None = None
    received: float
    sent: float
    seconds: float


class RowPorts(Struct, frozen=True):
    """A rank in the last launch that tells: its host, the CPUs that it was bound to, and the names of the
    interfaces by which it was connected to others.
    """

    rank: int
    host: str
    cpus: str
    names: tuple[str, ...]


class Interfaces(Facet, frozen=True, kw_only=True):
    """`interfaces` are those of each host that count bytes, `ports` those of each rank by which it is
    connected. `tcp_resent` is the share of TCP's segments that hosts sent again, of all hosts together, with
    its interval over launches; None: the system does not tell.
    """

    interfaces: tuple[RowInterface, ...] = ()
    ports: tuple[RowPorts, ...] = ()
    tcp_resent: float | None = None
    tcp_resent_low: float | None = None
    tcp_resent_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Interfaces | None:
        """None where all ranks are on one host, and in records of engines that do not read counters."""
        by_name: dict[tuple[str, str, str], list[Traffic]] = {}
        for launch in combined.launches:
            for interface in launch.network.traffic:
                by_name.setdefault((interface.host, interface.kind, interface.name), []).append(interface)
        resent = _resent(combined)
        if not by_name:
            return None
        return cls(
            interfaces=tuple(map(_middle, by_name.values())),
            ports=_ports(combined),
            tcp_resent=resent.value if resent else None,
            tcp_resent_low=resent.low if resent else None,
            tcp_resent_high=resent.high if resent else None,
        )


def _middle(launches: list[Traffic]) -> RowInterface:
    last = launches[-1]
    return RowInterface(
        host=last.host,
        name=last.name,
        kind=last.kind,
        state=last.state,
        mbits=last.mbits,
        cpus=last.cpus,
        received=middle([interface.received for interface in launches]) or 0.0,
        sent=middle([interface.sent for interface in launches]) or 0.0,
        seconds=middle([interface.seconds for interface in launches]) or 0.0,
    )


def _ports(combined: Combined) -> tuple[RowPorts, ...]:
    last = next(
        (launch for launch in reversed(combined.launches) if launch.network.ports and launch.start), None
    )
    if last is None or last.start is None:
        return ()
    places = {place.rank: place for place in last.start.places}
    return tuple(
        RowPorts(port.rank, places[port.rank].host, places[port.rank].cpus, port.names)
        for port in last.network.ports
        if port.rank in places
    )


def _resent(combined: Combined) -> Interval | None:
    """Compute the share that was sent again, launch by launch; a launch that sent nothing is left out."""
    shares = []
    for launch in combined.launches:
        sent = sum(host.sent for host in launch.network.resent)
        if sent > 0:
            shares.append(sum(host.again for host in launch.network.resent) / sent)
    return combined.span(shares, least=0.0, most=1.0) if shares else None
