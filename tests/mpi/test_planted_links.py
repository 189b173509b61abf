"""Links between virtual hosts with planted faults, each of which is named, and none where nothing is planted.

One link has 100 Mbit/s among 1 Gbit/s; a queue is too short for many senders; a rank is connected by another
interface than the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from further import further
from hosts import Hosts, Link, hosts
from on_hosts import skip_without_hosts, steelyard_on
from steelyard.analyses.incast.model import COLLAPSES, HOLDS, incasts
from steelyard.analyses.lost_segments.model import lost_segments
from steelyard.analyses.overview import read_rows
from steelyard.analyses.rank_ports.model import port_uses
from steelyard.judges.accept import Topic, Weighed, accept
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.system.process import run

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_HOSTS, _SLOW, _LAUNCHES = 5, 2, 6
_SECONDS = 900.0  # where others use the cores
_SHORT_QUEUE = 60_000  # bytes: less than two senders may have on their way
_SECOND = "10.77.0.63"


@pytest.fixture(autouse=True)
def _can_be() -> None:
    skip_without_hosts()


def _measure(bed: Hosts, out: Path, *words: str) -> None:
    asked = [
        "run",
        *words,
        "--method=each" if "mpi.pattern.round_robin" in words else "--method=barrier",
        "--rule=fixed",
        "--mpi=openmpi",
        f"--out={out}",
    ]
    done = steelyard_on(bed, *asked, seconds=_SECONDS)
    assert done.code == 0, done.out + done.err


def _of_hosts(out: Path) -> Topic:
    measured = load(out)
    verdict = accept(Weighed(measured, rows_of(measured)))
    return next(topic for topic in verdict.topics if topic.topic == "hosts")


@pytest.mark.parametrize("slow", [further(True), further(False)])
def test_a_host_whose_link_has_a_tenth_of_the_rate_is_named(tmp_path: Path, slow: bool) -> None:
    links = {host: Link(100.0 if slow and host == _SLOW else 1000.0) for host in range(_HOSTS)}
    out = tmp_path / "out"
    with hosts(_HOSTS, links=links) as bed:
        words = ("mpi.pattern.round_robin", "--param=round=*", "--bytes=64Ki", "--param=count=8")
        _measure(bed, out, *words, f"--hosts={_HOSTS}", "--ranks-per-host=1", "--launches=5")
    found = _of_hosts(out)
    print(found.verdict, found.evidence)  # pytest -rP
    # where others use the cores hosts differ too much by themselves: named, and no fault
    assert found.verdict in (("not well", "cannot tell") if slow else ("well", "cannot tell"))
    assert not slow or found.evidence.startswith(f"Host h{_SLOW + 1} is ")


def _incast(out: Path, queue: int) -> list[Row]:
    """Messages of one host to h1, and of three at once, each as fast as its own link."""
    links = {host: Link(200.0, queue if host == 0 else Link().queue) for host in range(4)}
    words = ("mpi.pattern.fan_in", "--param=kind=served", "--param=window=8", "--bytes=64Ki")
    with hosts(4, links=links) as bed:
        asked = ("--hosts=2,4", "--ranks-per-host=1", f"--launches={_LAUNCHES}", "--param=count=8")
        _measure(bed, out, *words, *asked)
        print(steelyard_on(bed, "show", str(out)).out)  # pytest -rP
    return list(read_rows(out).rows)


@pytest.mark.further
def test_messages_that_a_short_queue_loses_are_named(tmp_path: Path) -> None:
    rows = _incast(tmp_path / "short", _SHORT_QUEUE)
    assert 4 in [lost.hosts for lost in lost_segments(rows)]
    (incast,) = incasts(rows)
    assert [number.senders for number in incast.numbers] == [1, 3]
    assert incast.verdict == COLLAPSES
    sound = _incast(tmp_path / "long", Link().queue)
    assert lost_segments(sound) == ()
    assert [incast.verdict for incast in incasts(sound)] == [HOLDS]


def _lay_second(bed: Hosts) -> None:
    """Give the second host an eth1 on the same bridge, with an address of its own."""
    pid = (Path(bed.agent).parent / f"pid.{bed.hosts[1].name}").read_text().strip()
    inside = ["nsenter", "--target", str(bed.pid), "--net", "--mount"]
    inside += [f"--pid=/proc/{bed.pid}/ns/pid_for_children", "--"]
    link = f"ip link add second type veth peer name eth1 netns {pid} && ip link set second master bridge up"
    done = run([*inside, "sh", "-c", link])
    assert done.code == 0, done.err
    done = run([*bed.on(bed.hosts[1]), f"ip addr add {_SECOND}/24 dev eth1 && ip link set eth1 up"])
    assert done.code == 0, done.err


@pytest.mark.parametrize("odd", [True, further(False)])
def test_a_rank_that_is_connected_by_another_interface_is_named(tmp_path: Path, odd: bool) -> None:
    wrapper, out = tmp_path / "wrapper", tmp_path / "out"
    other = '[ "$OMPI_COMM_WORLD_RANK" = 3 ] && export OMPI_MCA_btl_tcp_if_include=eth1\n' if odd else ""
    wrapper.write_text(f'#!/bin/sh\n{other}exec "$@"\n')
    wrapper.chmod(0o755)
    with hosts(2) as bed:
        _lay_second(bed)
        words = ("mpi.alltoall", "--bytes=1Ki", "--param=count=4", f"--wrapper={wrapper}")
        _measure(bed, out, *words, "--hosts=2", "--ranks-per-host=2", "--launches=1")
        shown = steelyard_on(bed, "show", str(out)).out
    named = [(use.names, use.ranks, use.hosts, use.others) for use in port_uses(read_rows(out).rows)]
    expected = [(("eth0",), (0, 1, 2), ("h1", "h2"), None), (("eth1",), (3,), ("h2",), "eth0")]
    assert named == (expected if odd else [])
    assert ("most others use eth0" in shown) == odd
