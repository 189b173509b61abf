"""Placements on hosts: which pairs words mean, what a launch is told of them, and what their times say."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from flat_rows import flat_row
from make_records import FakePoint, steady, write_folder
from placed import tables_text
from record_lines import unsealed
from steelyard.analyses.hosts.model import host_matrices
from steelyard.analyses.hosts.tables import seen_tables
from steelyard.analyses.placement_pairs.model import pair_tables
from steelyard.analyses.placement_pairs.pictures import matrix_chart
from steelyard.analyses.rank_matrices.model import matrices
from steelyard.base.errors import InputError
from steelyard.diagnostics.results import diagnostics
from steelyard.engines.description import ops_of
from steelyard.launch import batch_systems
from steelyard.launch.batch_systems import with_switches
from steelyard.plan.host_pairs import HOST_WORDS, is_of_hosts, stand_ins
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import Placement, PlannedPoint
from steelyard.report import write_report
from steelyard.results.facets import Messages
from steelyard.results.facets.messages import RowPair
from steelyard.results.hosts import HostSeen, hosts_of_ranks, hosts_seen
from steelyard.results.load import load
from steelyard.results.rows import results, rows_of
from steelyard.system.allocation import AllocatedHost, Allocation, named_hosts
from steelyard.system.process import Done
from steelyard.system.topology import Cpu, Topology

_OPS = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))
_HOSTS = tuple(
    AllocatedHost(name, 4, switch)
    for name, switch in (("n1", "s0"), ("n2", "s0"), ("n3", "s1"), ("n4", "s1"))
)
_CPUS = tuple(Cpu(number, number) for number in range(4))


def _points(
    placement: str, allocated: tuple[AllocatedHost, ...] = _HOSTS, **keys: Any
) -> tuple[PlannedPoint, ...]:
    measure: dict[str, Any] = {"ops": ("mpi.pingpong",), "bytes": 8, "placement": placement} | keys
    topology = Topology(_CPUS, tuple(range(4)), hosts=allocated)
    return resolve(Plan(measure=(Measure(**measure),)), _OPS, ("mpich-5.0.2",), 4, topology)


def _told(points: tuple[PlannedPoint, ...]) -> str:
    return "; ".join(
        f"{point.placement.text if point.placement else ''} {point.ranks}@{point.hosts}" for point in points
    )


@pytest.mark.parametrize(
    ("placement", "keys", "told"),
    [
        (
            "hosts-each",
            {},
            "same-host n1,n1 2@1; same-switch n1,n2 2@2; other-switch n1,n3 2@2",
        ),
        ("hosts-each", {"hosts": 2}, "same-host n1,n1 2@1; same-switch n1,n2 2@2"),
        (
            "hosts-all",
            {"hosts": 3},
            "same-switch n1,n2 2@2; other-switch n1,n3 2@2; other-switch n2,n3 2@2",
        ),
        ("n4,n2", {}, "other-switch n4,n2 2@2"),
        ("n4,n4;n4,n3", {"ranks_per_host": 3}, "same-host n4,n4 6@1; same-switch n4,n3 6@2"),
        ("n1,n2", {"ranks": "2,8"}, "same-switch n1,n2 2@2; same-switch n1,n2 8@2"),
        ("n4,n1,n2", {}, "other-host n4,n1,n2 3@3"),
        ("n4,n1,n2", {"ranks": "3,6"}, "other-host n4,n1,n2 3@3; other-host n4,n1,n2 6@3"),
        ("n1,n2,n3,n4", {"ranks_per_host": 2}, "other-host n1,n2,n3,n4 8@4"),
        ("0,1;n1,n2", {}, "list 0,1 2@None; same-switch n1,n2 2@2"),
        ("hosts-each;hosts-all;n1,n2", {"hosts": 2}, "same-host n1,n1 2@1; same-switch n1,n2 2@2"),
    ],
)
def test_pairs_of_hosts(placement: str, keys: dict[str, Any], told: str) -> None:
    assert _told(_points(placement, **keys)).replace("same-node", "list") == told


def test_hosts_of_which_nobody_knows_the_switch_are_simply_others() -> None:
    assert _told(_points("hosts-each", (AllocatedHost("a"), AllocatedHost("b")))) == (
        "same-host a,a 2@1; other-host a,b 2@2"
    )


@pytest.mark.parametrize(
    ("placement", "hosts", "keys", "words"),
    [
        ("hosts-all", (), {}, "is of hosts, and this process is in no allocation"),
        ("hosts-all", _HOSTS[:1], {}, "there is only n1"),
        ("hosts-each", _HOSTS, {"hosts": 5}, "needs 5 hosts, and this allocation has 4"),
        ("n1,n9", _HOSTS, {}, "there is no host 'n9' to place ranks on; give one of n1, n2"),
        ("n8,n9", _HOSTS, {}, "neither a list of CPUs, as 0,1 or 0-3, nor hosts of this allocation"),
        ("n1,n2", _HOSTS, {"ranks": 3}, "3 ranks cannot be shared evenly by two hosts"),
        (
            "n1,n2,n3",
            _HOSTS,
            {"ranks": 4},
            "4 ranks cannot be shared evenly by 3 hosts; give a multiple of 3",
        ),
        ("n1,n2,n1", _HOSTS, {}, "the host n1 stands twice in 'n1,n2,n1'; name each of several hosts once"),
        ("n1,n2,n7", _HOSTS, {}, "there is no host 'n7' to place ranks on; give one of n1, n2"),
        ("n1,n2", _HOSTS, {"ranks": 2, "ranks_per_host": 1}, "say the same twice"),
        ("n1,n2", _HOSTS, {"engine": "solo"}, "cannot run without MPI|runs on this host"),
        ("0,1", _HOSTS, {"hosts": 2}, "the placement 0,1 is for one host, and 2 are asked for"),
    ],
)
def test_pairs_that_cannot_be(
    placement: str, hosts: tuple[AllocatedHost, ...], keys: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as raised:
        _points(placement, hosts, **keys)
    assert "\n" not in str(raised.value)


def test_ranks_of_several_hosts_can_be_unbound() -> None:
    (point,) = _points("unbound", _HOSTS, hosts=2)
    assert (point.hosts, point.placement and point.placement.text) == (2, "unbound")
    with pytest.raises(InputError, match="the placement each is for one host, and 2 are asked for"):
        _points("unbound;each", _HOSTS, hosts=2)


def test_numbers_are_cpus_even_where_a_host_is_called_so() -> None:
    assert not is_of_hosts("0,1", (AllocatedHost("0"), AllocatedHost("1")))
    assert all(is_of_hosts(word, ()) for word in HOST_WORDS)


def test_a_job_that_has_no_hosts_yet_is_planned_with_others_in_their_stead() -> None:
    assert [host.name for host in stand_ins(("n7,n2", "hosts-all", "0,1", "each"), 3)] == [
        "n7",
        "n2",
        "host-1",
    ]
    assert len(_points("hosts-all", stand_ins(("hosts-all",), 4))) == 6


_TREE = """SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n3
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[0-1]
"""


@pytest.mark.parametrize(
    ("code", "out", "switches"),
    [
        (0, _TREE, ["s0", "s0", "s1", None]),
        (1, _TREE, [None] * 4),
        (0, "SwitchName=x Level=0 Nodes=$(id)", [None] * 4),
    ],
)
def test_switches_as_the_batch_system_tells_them(
    code: int, out: str, switches: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_systems, "run", lambda *_, **__: Done(code, out, ""))
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/usr/bin/scontrol")
    asked = Allocation("slurm", tuple(AllocatedHost(f"n{i}") for i in range(1, 5)))
    assert [host.switch for host in with_switches(asked).hosts] == switches
    lsf = Allocation("lsf", asked.hosts)
    assert with_switches(lsf) == lsf


def test_an_allocation_without_the_hosts_of_a_plan() -> None:
    asked = Allocation("slurm", _HOSTS)
    assert [host.name for host in named_hosts(asked, ("n3", "n1", "n3"))] == ["n3", "n1"]
    with pytest.raises(InputError, match="on the host n9, and this allocation has n1, n2, n3, n4"):
        named_hosts(asked, ("n1", "n9"))
    with pytest.raises(InputError, match="this process is in no allocation"):
        named_hosts(None, ("n1",))


# ---- what their times say ----


def _on(a: str, b: str, time: float) -> FakePoint:
    placement = Placement("same-host" if a == b else "other-host", hosts=(a, b))
    return FakePoint("mpi.pingpong", steady(time, count=200, between=0.005), placement=placement)


def _pairs(slow: str, factor: float) -> list[FakePoint]:
    names = [f"n{i}" for i in (1, 2, 9, 10, 11)]
    return [
        _on(a, b, 1000.0 * (factor if slow in (a, b) else 1.0))
        for k, a in enumerate(names)
        for b in names[k + 1 :]
    ]


def test_a_slow_host_stands_out_and_the_others_do_not(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_on("n1", "n1", 100.0), *_pairs("n9", 1.5)], launches=6)
    (matrix,) = host_matrices(results(folder))
    told = {one.host: (one.is_slower, round(one.ratio, 1)) for one in matrix.times}
    assert told == {
        "n1": (False, 1.0),
        "n2": (False, 1.0),
        "n9": (True, 1.5),
        "n10": (False, 1.0),
        "n11": (False, 1.0),
    }
    assert all(one.farthest[0] == "n9" for one in matrix.times if one.host != "n9")
    text = tables_text(folder)
    assert "slower than the others" in text
    page = write_report([folder], tmp_path / "report.html").read_text("utf-8")
    assert "From host to host" in page
    assert "slower than the others" in page


@pytest.mark.parametrize(("time", "between", "slow"), [(3000.0, 0.005, {"n2"}), (1000.0, 1.0, set())])
def test_a_host_is_not_called_slow_for_noise(
    time: float, between: float, slow: set[str], tmp_path: Path
) -> None:
    """Its pairs take three times as long, or as long by launches that are far apart."""
    names = ("n1", "n2", "n3", "n4")
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    points = []
    for a, b in pairs:
        times = steady(time, count=200, between=between) if "n2" in (a, b) else steady(1000.0, between=0.005)
        points.append(FakePoint("mpi.pingpong", times, placement=Placement("other-host", hosts=(a, b))))
    (matrix,) = host_matrices(results(write_folder(tmp_path / "out", points, launches=6)))
    assert {one.host for one in matrix.times if one.is_slower} == slow
    assert any(abs(one.ratio - 1) > 0.1 for one in matrix.times if one.host == "n2")


def test_a_few_pairs_do_not_tell_hosts_apart(tmp_path: Path) -> None:
    """They are in the table of pairs, which is one, whatever the number of hosts."""
    few = [_on("n1", "n1", 100.0), _on("n1", "n2", 900.0), _on("n1", "n3", 900.0), _on("n4", "n2", 9000.0)]
    rows = results(write_folder(tmp_path / "out", few, launches=1))
    assert host_matrices(rows) == ()
    (table,) = pair_tables(rows)
    assert set(table.pairs) == {("n1", "n1"), ("n1", "n2"), ("n1", "n3"), ("n4", "n2")}


def test_hosts_that_are_alike(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", _pairs("", 1.0), launches=6)
    (matrix,) = host_matrices(results(folder))
    assert not any(one.is_slower for one in matrix.times)
    assert "than the others" not in tables_text(folder)


def test_the_matrix_of_hosts_is_in_their_order(tmp_path: Path) -> None:
    (table,) = pair_tables(results(write_folder(tmp_path / "out", _pairs("n9", 1.5), launches=1)))
    assert (table.level, table.spots) == ("host", ("n1", "n2", "n9", "n10", "n11"))
    chart = matrix_chart(table)
    assert chart is not None
    assert [text for _, text in chart.x.ticks] == ["n1", "n2", "n9", "n10", "n11"]


def test_cpus_and_hosts_have_tables_of_their_own(tmp_path: Path) -> None:
    near = FakePoint("mpi.pingpong", steady(100.0, count=200), placement=Placement("shared-l3", (0, 1)))
    tables = pair_tables(results(write_folder(tmp_path / "out", [near, *_pairs("", 1.0)], launches=1)))
    assert [table.level for table in tables] == ["CPU", "host"]
    assert set(tables[0].pairs) == {(0, 1)}


def test_records_alone_tell_the_hosts(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_on("n1", "n2", 900.0)], launches=1)
    (folder / "campaign.json").unlink()
    (row,) = results(folder)
    assert row.placed == Placement("other-host", hosts=("n1", "n2"))


def test_each_host_has_a_line_and_another_kind_of_machine_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_on("n1", "n2", 900.0)], launches=2)
    for path in (folder / "records").iterdir():
        text = unsealed(path.read_text())
        for machine in ("EPYC, 8 CPUs, Linux 6", "Xeon, 8 CPUs, Linux 6"):
            text = text.replace('"machine":""', f'"machine":"{machine}"', 1)
        path.write_text(text)
    measured = load(folder)
    seen = hosts_seen(measured)
    assert [(one.host, one.launches, one.ranks, one.machine[:4]) for one in seen] == [
        ("n1", 2, 1, "EPYC"),
        ("n2", 2, 1, "Xeon"),
    ]
    assert "Xeon, 8 CPUs, Linux 6" in tables_text(folder)
    (one,) = (one for one in diagnostics(measured, rows_of(measured)) if one.name == "other-machines")
    assert one.evidence == "n2 is Xeon, 8 CPUs, Linux 6, and n1 is EPYC, 8 CPUs, Linux 6."


def _host(name: str, others: float, machine: str = "EPYC, 8 CPUs") -> HostSeen:
    usual = {"launches": 2, "ranks": 1, "clock_cost_ns": 30.0, "clock_tick_ns": 10.0, "stolen": None}
    return HostSeen(host=name, machine=machine, others=others, is_watched=False, processes=(), **usual)  # type: ignore[arg-type]


def test_hosts_that_are_alike_say_once_what_they_are() -> None:
    (alike,) = seen_tables([_host("n1", 0.1), _host("n2", 0.2)])
    assert alike.explained.endswith("; all: EPYC, 8 CPUs")
    assert "machine" not in [column.name for column in alike.columns]
    (apart,) = seen_tables([_host("n1", 0.1), _host("n2", 0.2, "Xeon")])
    assert [line.cells[-1] for line in apart.lines] == ["EPYC, 8 CPUs", "Xeon"]


def test_the_most_disturbed_of_many_hosts_are_shown() -> None:
    hosts = [_host(f"n{i}", i / 100) for i in range(64)]
    (table,) = seen_tables(hosts, most=16)
    assert [line.cells[0] for line in table.lines] == [f"n{i}" for i in range(63, 47, -1)]
    assert table.notes[0] == "The 16 of 64 hosts whose CPUs others used most; the report has all."
    (whole,) = seen_tables(hosts)
    assert len(whole.lines) == 64


def test_one_host_has_no_table_of_hosts(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(900.0))], launches=1)
    assert hosts_seen(load(folder)) == ()


@pytest.mark.parametrize("ranks", [4, 5])
def test_rounds_make_a_matrix_of_hosts(ranks: int) -> None:
    """Each pair of each round is a cell, both ways; hosts are those that the ranks were on."""
    names = [f"h{rank}" for rank in range(ranks)]
    rows = []
    for number in range(1, ranks + ranks % 2):
        met = [
            (a, b) for a in range(ranks) for b in range(a + 1, ranks) if (a * 7 + b) % ranks == number % ranks
        ]
        pairs = tuple(RowPair(a, b, 100.0 * a + b) for a, b in met)
        keys: dict[str, Any] = {
            "point": number,
            "op": "mpi.pattern.round_robin",
            "method": "each",
            "bytes": 8,
            "ranks": ranks,
            "threads": 1,
            "params": {"round": float(number)},
            "mpi": "x",
            "launch_count": 3,
            "count": 10,
            "rejected": 0,
            "median": 100.0,
            "pairs": pairs,
            "placement": "|".join(f"{name}:0" for name in names),
        }
        row = flat_row(**keys)
        rows.append(row)
    assert hosts_of_ranks(rows[0]) == tuple(names)
    (matrix,) = matrices(rows)
    assert matrix.hosts == tuple(names)
    (table,) = host_matrices(rows)
    known = {
        frozenset((table.hosts[a], table.hosts[b])): ns
        for (a, b), ns in zip(table.ends, table.ns, strict=True)
    }
    assert known == {
        frozenset((names[pair.low], names[pair.high])): pair.median
        for row in rows
        for pair in row.get(Messages).pairs
    }
    for row in rows:
        for pair in row.get(Messages).pairs:
            assert matrix.ns[pair.low, pair.high] == matrix.ns[pair.high, pair.low] == pair.median


@pytest.mark.parametrize(
    ("ranks", "words"), [(2, "h0 and h1"), (3, "h0, h1 and h2"), (8, "8 hosts (h0, h1, h2, ...)")]
)
def test_titles_name_all_hosts(ranks: int, words: str, tmp_path: Path) -> None:
    """On the page and in the terminal; the first alone looks as if it had measured alone."""
    point = FakePoint("mpi.barrier", steady(9.0), ranks=ranks)
    out = write_folder(
        tmp_path / "out", [point], launches=2, hosts=lambda rank: f"h{rank}", machine={"host": "h0"}
    )
    page = write_report([out], out / "report.html").read_text("utf-8")
    assert f"<title>mpi.barrier, mpich-4.0.2, {words}, 21 Nov 2026</title>" in page
    first = " ".join(tables_text(out).split())
    assert f" of {words}, " in first
