"""By which interfaces ranks are connected, on recorded hosts: whose is another, and whose is far."""

from __future__ import annotations

from msgspec.structs import replace

from macro_rows import row
from steelyard.analyses.rank_ports.model import PortUse, port_uses
from steelyard.analyses.rank_ports.tables import port_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Interfaces, RowInterface, RowPorts
from steelyard.results.row import Row


def interface(host: str, name: str, cpus: str | None = None, state: str = "up") -> RowInterface:
    return RowInterface(
        host=host, name=name, kind="net", state=state, mbits=None, cpus=cpus, received=0, sent=0, seconds=1
    )


def between(interfaces: list[RowInterface], *ports: RowPorts) -> Row:
    plain = row("mpi.alltoall", "a", [1e3], bytes=65536, sized=True)
    network = Interfaces(interfaces=tuple(interfaces), ports=ports)
    made: Row = replace(plain, facets=(*plain.facets, network))
    return made


BOTH = [interface(host, name) for host in ("h1", "h2") for name in ("eth0", "eth1")]
# As a host with two sockets tells: an adapter at each.
FAR = [interface("h1", "mlx5_0/1", "0-15"), interface("h1", "mlx5_1/1", "16-31")]


def told(row: Row) -> list[tuple[tuple[str, ...], tuple[int, ...], str | None, tuple[str, ...]]]:
    return [(use.names, use.ranks, use.others, use.near) for use in port_uses([row])]


def rank(number: int, host: str, *names: str, cpus: str = "0") -> RowPorts:
    return RowPorts(number, host, cpus, names)


def test_a_rank_that_is_connected_by_another_interface_is_named() -> None:
    ports = [rank(0, "h1", "eth0"), rank(1, "h1", "eth0"), rank(2, "h2", "eth0"), rank(3, "h2", "eth1")]
    assert told(between(BOTH, *ports)) == [
        (("eth0",), (0, 1, 2), None, ()),
        (("eth1",), (3,), "eth0", ()),
    ]
    without = [link for link in BOTH if (link.host, link.name) != ("h2", "eth0")]
    assert told(between(without, *ports))[1] == (("eth1",), (3,), None, ())
    down = [*without, interface("h2", "eth0", state="down")]
    assert told(between(down, *ports))[1] == (("eth1",), (3,), None, ())


def test_ranks_that_are_alike_and_near_say_nothing() -> None:
    assert told(between(BOTH, rank(0, "h1", "eth0"), rank(1, "h2", "eth0"))) == []
    assert told(between(BOTH, rank(0, "h1"), rank(1, "h2"))) == []
    near = [rank(0, "h1", "mlx5_0", cpus="3"), rank(1, "h1", "mlx5_0", cpus="15-16")]
    assert told(between(FAR, *near)) == []
    assert told(between([interface("h1", "eth0")], rank(0, "h1", "eth0", cpus="40"))) == []
    assert port_tables(()) == ()


def test_a_rank_that_uses_the_farther_adapter_is_named() -> None:
    ports = [rank(0, "h1", "mlx5_0", cpus="0-7"), rank(1, "h1", "mlx5_0", cpus="16-23")]
    assert told(between(FAR, *ports)) == [
        (("mlx5_0",), (0,), None, ()),
        (("mlx5_0",), (1,), None, ("mlx5_1/1",)),
    ]
    uses: tuple[PortUse, ...] = port_uses([between(FAR, *ports)])
    (table,) = port_tables(uses)
    assert [line.cells for line in table.lines] == [
        ("mlx5_0", "0", "h1", ""),
        ("mlx5_0", "1", "h1", "far from their CPUs; near: mlx5_1/1"),
    ]
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
