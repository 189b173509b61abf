"""A host whose messages go by its second interface, among three virtual hosts: the counters show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosts import Hosts, hosts
from on_hosts import skip_without_hosts, steelyard_on
from steelyard.analyses.interfaces.model import interface_uses
from steelyard.analyses.overview import read_rows
from steelyard.system.process import Done, run

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_ODD = 2  # the third host
_ADDRESS = "02:00:00:00:00:63"
_SIZE, _COUNT = 262144, 8


def _lay_second(bed: Hosts) -> None:
    """Give the third host an eth1 on the same bridge; all that it has with the others goes there."""
    folder = Path(bed.agent).parent
    pid = (folder / f"pid.{bed.hosts[_ODD].name}").read_text().strip()
    inside = ["nsenter", "--target", str(bed.pid), "--net", "--mount"]
    inside += [f"--pid=/proc/{bed.pid}/ns/pid_for_children", "--"]
    link = f"ip link add second type veth peer name eth1 address {_ADDRESS} netns {pid}"
    _done(run([*inside, "sh", "-c", f"{link} && ip link set second master bridge up"]))
    odd = ["ip link set eth1 up"]
    odd += [f"ip route replace 10.77.0.{i + 1}/32 dev eth1 src 10.77.0.{_ODD + 1}" for i in range(_ODD)]
    _done(run([*bed.on(bed.hosts[_ODD]), " && ".join(odd)]))
    for host in bed.hosts[:_ODD]:
        there = f"ip neigh replace 10.77.0.{_ODD + 1} lladdr {_ADDRESS} dev eth0 nud permanent"
        _done(run([*bed.on(host), there]))


def _done(done: Done) -> None:
    assert done.code == 0, done.err


def test_the_host_that_uses_its_second_interface_is_named(tmp_path: Path) -> None:
    skip_without_hosts()
    out = tmp_path / "out"
    asked = ["run", "mpi.alltoall", "--hosts=3", "--ranks-per-host=1", f"--bytes={_SIZE}", "--launches=1"]
    asked += ["--method=batch", "--rule=fixed", f"--param=count={_COUNT}", "--mpi=openmpi", f"--out={out}"]
    with hosts(3) as bed:
        _lay_second(bed)
        done = steelyard_on(bed, *asked)
        shown = steelyard_on(bed, "show", str(out))
    assert done.code == 0, done.out + done.err
    uses = {use.name: use for use in interface_uses(read_rows(out).rows)}
    assert {name: use.hosts for name, use in uses.items()} == {"eth0": ("h1", "h2"), "eth1": ("h3",)}
    assert (uses["eth0"].others, uses["eth1"].others) == (None, "eth0")
    assert all(use.sent >= 2 * _SIZE * _COUNT and use.mbits for use in uses.values())
    assert "most others use eth0" in shown.out
    print(shown.out)  # pytest -rP
