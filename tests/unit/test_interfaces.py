"""Which interface moved the bytes, from counters that are known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from macro_rows import row
from steelyard.analyses.interfaces.model import InterfaceUse, interface_uses
from steelyard.analyses.interfaces.tables import interface_tables
from steelyard.analyses.lost_segments.model import lost_segments
from steelyard.analyses.lost_segments.tables import lost_tables
from steelyard.records.parts import HostInterfaces, Interface
from steelyard.records.schema import State
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Interfaces, RowInterface
from steelyard.results.row import Row
from steelyard.results.traffic import NetworkUse, RankPorts, Resent, network_of, traffic_of

MIB = 2**20


def state(point: int | None, at_ns: int, *hosts: Sequence[Interface], ranks: tuple[int, ...] = ()) -> State:
    """Of one rank a host; `ranks` are chosen ones."""
    known = ranks or tuple(range(len(hosts)))
    return State(
        point=point,
        at_ns=tuple(at_ns for _ in hosts),
        cpus=tuple("0" for _ in hosts),
        ranks=ranks,
        interfaces=tuple(
            HostInterfaces(rank=rank, host=f"h{i + 1}", interfaces=tuple(own))
            for i, (rank, own) in enumerate(zip(known, hosts, strict=True))
        ),
    )


def port(name: str, received: int, sent: int, mbits: int | None = 1000) -> Interface:
    return Interface(name=name, kind="net", state="up", mbits=mbits, rx_bytes=received, tx_bytes=sent)


def moved(host: str, name: str, count: int, mbits: int | None = 1000, up: str = "up") -> RowInterface:
    """As many bytes either way, in a second."""
    told = {"host": host, "name": name, "kind": "net", "state": up, "mbits": mbits}
    return RowInterface(**told, received=count, sent=count, seconds=1.0)  # type: ignore[arg-type]


def between(*interfaces: RowInterface) -> Row:
    plain = row("mpi.alltoall", "a", [1e3], bytes=65536, sized=True)
    made: Row = replace(plain, facets=(*plain.facets, Interfaces(interfaces=interfaces)))
    return made


def uses(*interfaces: RowInterface) -> tuple[InterfaceUse, ...]:
    return interface_uses([between(*interfaces)])


def told(*interfaces: RowInterface) -> dict[tuple[str, tuple[str, ...]], str | None]:
    return {(use.name, use.hosts): use.others for use in uses(*interfaces)}


def test_a_test_case_has_what_its_counters_grew_by() -> None:
    first = [port("eth0", 10, 20), port("eth1", 5, 5)], [port("eth0", 0, 0)]
    second = [port("eth0", 110, 220), port("eth1", 5, 5)], [port("eth0", 7, 3)]
    third = [port("eth0", 50, 300)], [port("eth1", 9, 9)]
    chosen = (0, 8)
    states = [
        state(None, 0, *first, ranks=chosen),
        state(4, 2 * 10**9, *second, ranks=chosen),
        state(5, 3 * 10**9, *third, ranks=chosen),
        state(6, 4 * 10**9),
    ]
    found = traffic_of(states)
    assert set(found) == {4, 5}
    assert [(one.host, one.name, one.received, one.sent, one.seconds) for one in found[4]] == [
        ("h1", "eth0", 100, 200, 2.0),
        ("h1", "eth1", 0, 0, 2.0),
        ("h2", "eth0", 7, 3, 2.0),
    ]
    assert found[5] == ()  # one was set back, the other is new


def test_the_share_of_the_line_is_that_of_the_busier_host() -> None:
    (use,) = uses(moved("h1", "eth0", 25_000_000), moved("h2", "eth0", 50_000_000))
    assert (use.hosts, use.rate, use.others) == (("h1", "h2"), 5e7, None)
    assert use.of_line == pytest.approx(0.4)
    (use,) = uses(moved("h1", "tun0", 25_000_000, mbits=None))
    assert use.of_line is None
    (table,) = interface_tables([use])
    text = table_text(table, Paper(80, is_pipe=False))
    assert "25.0 MB/s" in text
    assert "%" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_settings_that_choose_an_interface_are_told_apart() -> None:
    rows = [
        replace(between(moved("h1", name, MIB)), env={"UCX_NET_DEVICES": name}) for name in ("eth0", "eth1")
    ]
    found = interface_uses(rows)
    assert [(use.name, use.env["UCX_NET_DEVICES"]) for use in found] == [("eth0", "eth0"), ("eth1", "eth1")]
    (table,) = interface_tables(found)
    assert table.columns[0].name == "UCX_NET_DEVICES"


ETH0, ETH1 = moved("h3", "eth0", 1000), moved("h3", "eth1", MIB)


@pytest.mark.parametrize(
    ("of_h3", "others"),
    [
        ([ETH0, ETH1], "eth0"),
        ([ETH1], None),  # it has no eth0
        ([moved("h3", "eth0", 0, up="down"), ETH1], None),
        ([moved("h3", "eth0", MIB), moved("h3", "eth1", 1000)], None),
    ],
)
def test_a_host_is_odd_that_has_the_interface_of_the_others_and_uses_another(
    of_h3: list[RowInterface], others: str | None
) -> None:
    found = told(moved("h1", "eth0", MIB), moved("h2", "eth0", MIB), *of_h3)
    name = "eth1" if ETH1 in of_h3 else "eth0"
    assert next(value for (by, hosts), value in found.items() if by == name and "h3" in hosts) == others
    assert all(value is None for (by, hosts), value in found.items() if "h3" not in hosts)


def test_two_rails_of_a_host_are_both_used_and_few_bytes_say_nothing() -> None:
    both = [moved(host, name, MIB) for host in ("h1", "h2") for name in ("eth0", "eth1")]
    assert told(*both) == {("eth0", ("h1", "h2")): None, ("eth1", ("h1", "h2")): None}
    assert uses(moved("h1", "eth0", 1000), moved("h2", "eth1", 1000)) == ()
    assert interface_tables(()) == ()


def test_a_line_of_the_table_says_by_what_of_whom_and_how_full() -> None:
    of_hosts = [moved(f"h{i}", "eth0", 50_000_000) for i in (1, 2)]
    (table,) = interface_tables(uses(*of_hosts, moved("h3", "eth0", 9), moved("h3", "eth1", 6_250_000, 100)))
    assert [line.cells[-6:] for line in table.lines] == [
        ("eth0", "h1 and h2", "47.68 MiB", "50.0 MB/s", "40 % of 1 Gb/s", ""),
        ("eth1", "h3", "5.96 MiB", "6.25 MB/s", "50 % of 100 Mb/s", "most others use eth0"),
    ]


def test_segments_that_are_sent_again_and_ports_of_ranks_are_taken_from_states() -> None:
    first, last = (
        replace(
            state(point, at, [port("eth0", 0, 0)], [port("eth0", 0, 0)], ranks=(0, 8)),
            ports=("eth0,eth1", ""),
        )
        for point, at in ((None, 0), (3, 10**9))
    )
    counted = [
        replace(each, interfaces=tuple(replace(host, tcp_sent=s, tcp_resent=r) for host in each.interfaces))
        for each, s, r in ((first, 1000, 5), (last, 3000, 45))
    ]
    network = network_of(counted)[3]
    assert network.resent == (Resent("h1", 2000, 40), Resent("h2", 2000, 40))
    assert network.ports == (RankPorts(0, ("eth0", "eth1")), RankPorts(8, ()))
    assert network_of([first, last])[3].resent == ()  # engines that did not count
    back = [counted[1], replace(counted[0], point=4)]
    assert network_of(back)[4].resent == ()  # set back
    assert network_of([replace(first, interfaces=()), replace(last, interfaces=())]) == {}
    assert NetworkUse() == NetworkUse((), (), ())


def resent(share: float, low: float | None, high: float | None) -> Row:
    plain = row("mpi.alltoall", "a", [1e3], bytes=65536, sized=True, hosts=4)
    network = Interfaces(tcp_resent=share, tcp_resent_low=low, tcp_resent_high=high)
    lossy: Row = replace(plain, facets=(*plain.facets, network))
    return lossy


def test_only_loss_beyond_chance_is_named() -> None:
    assert (
        lost_segments([resent(0.02, None, None), resent(0.002, 0.0005, 0.004), resent(0.0, 0.0, 0.0)]) == ()
    )
    (table,) = lost_tables(lost_segments([resent(0.02, 0.01, 0.03)]))
    assert [line.cells for line in table.lines] == [("2 %", "1 % to 3 %")]
    assert lost_tables(()) == ()
