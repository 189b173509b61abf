"""The network interfaces of hosts: what each moved in a test case."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined, middle
from steelyard.results.row import Facet
from steelyard.results.traffic import Traffic


class RowInterface(Struct, frozen=True, kw_only=True):
    """An interface of a host; `received` and `sent` are bytes of a launch of the test case and `seconds` how
    long that took, with set-up, warm-up and checks: medians over launches.

    `kind`: net, infiniband. `state` and `mbits`, the line rate, are what the system stated in the last
    launch; None: nothing.
    """

    host: str
    name: str
    kind: str
    state: str | None
    mbits: int | None
    received: float
    sent: float
    seconds: float


class Interfaces(Facet, frozen=True, kw_only=True):
    """`interfaces` are those of each host that count bytes."""

    interfaces: tuple[RowInterface, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> Interfaces | None:
        """None where all ranks are on one host, and in records of engines that do not read counters."""
        by_name: dict[tuple[str, str, str], list[Traffic]] = {}
        for launch in combined.launches:
            for interface in launch.traffic:
                by_name.setdefault((interface.host, interface.kind, interface.name), []).append(interface)
        return cls(interfaces=tuple(map(_middle, by_name.values()))) if by_name else None


def _middle(launches: list[Traffic]) -> RowInterface:
    last = launches[-1]
    return RowInterface(
        host=last.host,
        name=last.name,
        kind=last.kind,
        state=last.state,
        mbits=last.mbits,
        received=middle([interface.received for interface in launches]) or 0.0,
        sent=middle([interface.sent for interface in launches]) or 0.0,
        seconds=middle([interface.seconds for interface in launches]) or 0.0,
    )
