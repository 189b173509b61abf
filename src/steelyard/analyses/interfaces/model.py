"""Which network interface of each host moved the bytes of a test case, and how full its line was.

The kernel counts what each interface received and sent. The difference over a test case has its set-up,
warm-up and checks, headers of the network, and what others sent. So it says where the bytes went, and its
rate is a mean over all of that: no more than the line carried while samples were taken.

Hosts that use their interfaces alike have the same carrier: the interface that moves most of their bytes. A
host is odd if most others carry by one that it has as well, and it does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Interfaces, RowInterface
from steelyard.results.row import Row
from steelyard.rows.labels import told_params

LEAST_BYTES = 2**20  # of a host in a launch: fewer may be those of any service
LEAST_SHARE = 0.05  # of the bytes of its host's carrier: an interface that moved less did not take part
_DOWN = "down"

_Carrier = tuple[str, str]  # kind and name


class InterfaceUse(Struct, frozen=True, kw_only=True):
    """An interface that moved bytes of a test case on some `hosts`, and the most of them in a launch.

    `received`, `sent` are the bytes and `rate` the bytes/s of the busier direction, `of_line` its share of
    the line rate `mbits` that the system states; None where it states none. `others` is the interface that
    most other hosts use, where these hosts have it and use this interface.
    """

    op: str
    mpi: str | None
    bytes: int
    ranks: int
    placement: str | None
    env: dict[str, str]
    params: Params
    kind: str
    name: str
    hosts: tuple[str, ...]
    received: float
    sent: float
    rate: float
    mbits: int | None
    of_line: float | None
    others: str | None


def interface_uses(rows: Sequence[Row]) -> tuple[InterfaceUse, ...]:
    """Find the interfaces of each test case between hosts that moved a MiB or more, in the order of rows."""
    between = [row for row in rows if row.status == "ok" and row.get(Interfaces).interfaces]
    return tuple(use for row in between for use in _uses(row, between))


def _uses(row: Row, among: Sequence[Row]) -> Iterator[InterfaceUse]:
    carriers = _carriers(row.get(Interfaces).interfaces)
    used: dict[tuple[_Carrier, str | None], list[RowInterface]] = {}
    for interface in row.get(Interfaces).interfaces:
        carrier = carriers.get(interface.host)
        if carrier is not None and _moved(interface) >= LEAST_SHARE * _moved(carrier):
            others = _usual_of_others(interface, carriers, row.get(Interfaces).interfaces)
            used.setdefault((_key(interface), others), []).append(interface)
    for ((kind, name), others), there in used.items():
        most = max(there, key=lambda interface: max(interface.received, interface.sent) / interface.seconds)
        rate = max(most.received, most.sent) / most.seconds
        yield InterfaceUse(
            op=row.op,
            mpi=row.mpi,
            bytes=row.bytes,
            ranks=row.ranks,
            placement=row.placed_text,
            env=row.env,
            params=told_params(row, among),
            kind=kind,
            name=name,
            hosts=tuple(interface.host for interface in there),
            received=most.received,
            sent=most.sent,
            rate=rate,
            mbits=most.mbits,
            of_line=8 * rate / (1e6 * most.mbits) if most.mbits else None,
            others=others,
        )


def _carriers(interfaces: Sequence[RowInterface]) -> dict[str, RowInterface]:
    """Find the interface of each host that moved most, if that is enough to say so."""
    most: dict[str, RowInterface] = {}
    for interface in interfaces:
        if _moved(interface) >= LEAST_BYTES and (
            interface.host not in most or _moved(interface) > _moved(most[interface.host])
        ):
            most[interface.host] = interface
    return most


def _usual_of_others(
    interface: RowInterface, carriers: dict[str, RowInterface], interfaces: Sequence[RowInterface]
) -> str | None:
    """Name the carrier of most other hosts, if this host could use it and carries by `interface`."""
    if carriers[interface.host] is not interface:
        return None
    others = Counter(_key(carrier) for host, carrier in carriers.items() if host != interface.host)
    usual, count = others.most_common(1)[0] if others else (_key(interface), 0)
    could = any(
        _key(mine) == usual and mine.host == interface.host and mine.state != _DOWN for mine in interfaces
    )
    return usual[1] if usual != _key(interface) and 2 * count > sum(others.values()) and could else None


def _key(interface: RowInterface) -> _Carrier:
    return interface.kind, interface.name


def _moved(interface: RowInterface) -> float:
    return interface.received + interface.sent
