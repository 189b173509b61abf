"""Many hosts, which meet some of the others in drawn rounds: a slow one is named, and how to measure it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from drawn_hosts import DRAWN, drawn_rounds
from further import further
from loaded import load_benchmark
from macro_rows import row
from made_machine import weighed
from placed import tables_text
from steelyard.analyses.hosts.in_full import measured_in_full
from steelyard.analyses.hosts.model import host_matrices
from steelyard.judges.accept import Acceptance, Topic, Weighed, accept
from steelyard.plan.host_pairs import is_of_hosts
from steelyard.system.allocation import AllocatedHost


def _hosts(count: int, slow: int | None, to: Path, link: tuple[int, int] | None = None) -> Weighed:
    points = drawn_rounds(count, slow, link)
    return weighed(to / "out", points, hosts=lambda rank: f"node{rank}", cpus=lambda rank: "0")


def _topic(found: Acceptance, name: str) -> Topic:
    return next(one for one in found.topics if one.topic == name)


@pytest.mark.parametrize(("count", "slow"), [(40, None), (40, 17), further(1000, 613)])
def test_a_slow_host_of_many_is_named_by_the_verdict_and_the_table(
    count: int, slow: int | None, tmp_path: Path
) -> None:
    seen = _hosts(count, slow, tmp_path)
    (matrix,) = host_matrices(seen.rows)
    assert len(matrix.ends) == count * DRAWN // 2
    assert [one.host for one in matrix.times if one.is_slower] == ([] if slow is None else [f"node{slow}"])
    found = accept(seen)
    hosts, links = _topic(found, "hosts"), _topic(found, "links")
    assert links.verdict == "well"
    if slow is None:
        assert hosts.verdict == "well"
        return
    assert hosts.verdict == "not well"
    assert hosts.evidence.startswith(f"Host node{slow} is ")
    command = hosts.remedy.partition(": ")[2].partition(";")[0]
    assert command == measured_in_full([f"node{slow}"], matrix.hosts, matrix.row)
    assert command in " ".join(tables_text(tmp_path / "out").split())


def test_a_slow_link_that_was_drawn_is_named_and_no_host(tmp_path: Path) -> None:
    """Node 39 stays while all others turn: in the last round it meets node 0 or its opposite."""
    sound = _hosts(40, None, tmp_path / "sound")
    (matrix,) = host_matrices(sound.rows)
    a, b = (int(matrix.hosts[end].removeprefix("node")) for end in matrix.ends[len(matrix.ends) // 2])
    found = accept(_hosts(40, None, tmp_path, link=(a, b)))
    links, hosts = _topic(found, "links"), _topic(found, "hosts")
    assert links.verdict == "not well"
    assert {f"node{a}", f"node{b}"} == set(
        links.evidence.partition(" is ")[0].removeprefix("Link ").split(" – ")
    )
    assert hosts.verdict == "well"


def test_the_command_has_the_slow_ones_and_others_of_all() -> None:
    hosts = tuple(f"n{number}" for number in range(1000))
    met = {"round": 3.0, "kind": "sendrecv", "window": 64.0}
    one = row(
        "mpi.pattern.round_robin", "openmpi-4.1.4", [1e4], bytes=65536, params=met, asked=("round", "kind")
    )
    words = shlex.split(measured_in_full(["n7", "n900"], hosts, one))
    placement = words[words.index("--placement") + 1]
    names = placement.split(",")
    assert names[:2] == ["n7", "n900"]
    assert len(set(names)) == len(names) == 8
    assert max(int(name[1:]) for name in names[2:]) > 500
    assert is_of_hosts(placement, [AllocatedHost(name) for name in names])
    assert words[words.index("--bytes") + 1] == "65536"
    assert words[words.index("--mpi") + 1] == "openmpi-4.1.4"
    assert [word for word in words if "=" in word] == ["round=*", "kind=sendrecv"]


@pytest.mark.parametrize(("slow", "count"), [((), 1000), (("n1",), 8), (("n1", "n2", "n3"), 12)])
def test_all_of_few_hosts_are_measured_anyway(slow: tuple[str, ...], count: int) -> None:
    assert (
        measured_in_full(
            slow, [f"n{number}" for number in range(count)], row("mpi.pattern.round_robin", "a", [1e4])
        )
        == ""
    )


@pytest.mark.parametrize(("hosts", "machines"), [(64, 3), further(1000, 2)])
def test_the_power_of_drawn_rounds(hosts: int, machines: int) -> None:
    """Made-up campaigns of benchmarks/power_accept.py: hosts differ lastingly by 1 %, links by 3 %."""
    power = load_benchmark("power_accept")
    asked = ("host", hosts, 5, 0.01)
    assert "not well" not in dict(power.rates(*asked, (), machines, 16))
    assert dict(power.rates(*asked, (1.25,), machines, 16)) == {"right": machines}
