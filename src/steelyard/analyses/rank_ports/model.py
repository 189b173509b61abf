"""By which network interfaces each rank of several hosts is connected to others, and whose mapping is odd.

A rank is odd if most ranks are connected by an interface that its host has as well, and it by another. It is
far from its interface if the system says which CPUs are near the interface's device, the rank is bound to
none of them, and another interface of its host that is up is near all CPUs of the rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.base.cpulist import cpu_set
from steelyard.records.fields import Params
from steelyard.results.facets import Interfaces, RowInterface, RowPorts
from steelyard.results.row import Row
from steelyard.rows.labels import told_params

_DOWN = "down"


class PortUse(Struct, frozen=True, kw_only=True):
    """Ranks of a test case that are connected by the same interfaces, alike odd.

    `others`: what most ranks use, where these have it and do not use it. `near`: interfaces near these
    ranks' CPUs, where those that they use are not.
    """

    op: str
    mpi: str | None
    bytes: int
    env: dict[str, str]
    params: Params
    names: tuple[str, ...]
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    others: str | None
    near: tuple[str, ...]


def port_uses(rows: Sequence[Row]) -> tuple[PortUse, ...]:
    """Find the ports of each test case between hosts in which ranks differ or are far from theirs."""
    between = [row for row in rows if row.status == "ok" and row.get(Interfaces).ports]
    return tuple(use for row in between for use in _told(tuple(_uses(row, between))))


def _told(uses: tuple[PortUse, ...]) -> tuple[PortUse, ...]:
    """Keep those of a test case if they say anything: all alike and near is what everybody expects."""
    return uses if len(uses) > 1 or any(use.near for use in uses) else ()


def _uses(row: Row, among: Sequence[Row]) -> Iterator[PortUse]:
    network = row.get(Interfaces)
    known = [port for port in network.ports if port.names]
    counted = Counter(name for port in known for name in port.names)
    usual = [name for name, count in counted.items() if 2 * count > len(known)]
    alike: dict[tuple[tuple[str, ...], str | None, tuple[str, ...]], list[RowPorts]] = {}
    for port in known:
        interfaces = {
            _device(interface.name): interface
            for interface in network.interfaces
            if interface.host == port.host
        }
        missed = [name for name in usual if name not in port.names and _is_up(interfaces.get(_device(name)))]
        key = (port.names, missed[0] if missed else None, _nearer(port, interfaces))
        alike.setdefault(key, []).append(port)
    for (names, others, near), ports in alike.items():
        yield PortUse(
            op=row.op,
            mpi=row.mpi,
            bytes=row.bytes,
            env=row.env,
            params=told_params(row, among),
            names=names,
            ranks=tuple(port.rank for port in ports),
            hosts=tuple(dict.fromkeys(port.host for port in ports)),
            others=others,
            near=near,
        )


def _device(name: str) -> str:
    """Name the device of a port of InfiniBand: mlx5_0/1."""
    return name.partition("/")[0]


def _is_up(interface: RowInterface | None) -> bool:
    return interface is not None and interface.state != _DOWN


def _nearer(port: RowPorts, interfaces: dict[str, RowInterface]) -> tuple[str, ...]:
    """List interfaces near a rank's CPUs if none that it uses is."""
    cpus = cpu_set(port.cpus)
    used = [interfaces[_device(name)] for name in port.names if _device(name) in interfaces]
    if (
        not cpus
        or not used
        or any(interface.cpus is None or cpus & cpu_set(interface.cpus) for interface in used)
    ):
        return ()
    return tuple(
        interface.name
        for interface in interfaces.values()
        if interface.cpus and _is_up(interface) and cpus <= cpu_set(interface.cpus)
    )
