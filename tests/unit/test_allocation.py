"""What batch systems say of their allocations: variables as they set them, and such as nobody should."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.launch.batch_systems import read_allocation
from steelyard.system.allocation import AllocatedHost, Allocation, expand_hosts, take_hosts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("vm", "vm"),
        ("n1,n2", "n1 n2"),
        ("n[1-3,7]", "n1 n2 n3 n7"),
        ("nid[00098-00101]", "nid00098 nid00099 nid00100 nid00101"),
        ("n[9-11],login-2.example.org", "n9 n10 n11 login-2.example.org"),
        ("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02"),
        ("n[1-2]-ib,n1-ib", "n1-ib n2-ib"),
    ],
)
def test_lists_of_hosts(text: str, names: str) -> None:
    assert expand_hosts(text, "V") == tuple(names.split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n[1-3",
        "n1-3]",
        "n[[1]]",
        "n[3-1]",
        "n[a-b]",
        "n[]",
        "n[1-999999999]",
        "r[1-1000]n[1-1000]",
        "n1,,n2",
        "-o,n1",
        "n1;rm -rf x",
        "$(id)",
        "n 1",
        "n1\nn2",
        "n[1-2]\0",
        "nö",
    ],
)
def test_what_is_no_list_of_hosts(text: str) -> None:
    with pytest.raises(InputError, match=r"^V ") as raised:
        expand_hosts(text, "V")
    assert "\n" not in str(raised.value)


_SLURM = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]"}


@pytest.mark.parametrize(
    ("environ", "system", "hosts"),
    [
        (_SLURM | {"SLURM_JOB_CPUS_PER_NODE": "4(x2),8"}, "slurm", "n1:4 n2:4 n3:8"),
        (_SLURM | {"SLURM_TASKS_PER_NODE": "2(x3)"}, "slurm", "n1:2 n2:2 n3:2"),
        (_SLURM, "slurm", "n1:None n2:None n3:None"),
        ({"LSB_MCPU_HOSTS": "hostA 4 hostB 2"}, "lsf", "hostA:4 hostB:2"),
    ],
)
def test_variables_of_an_allocation(environ: dict[str, str], system: str, hosts: str) -> None:
    found = read_allocation(environ)
    assert found is not None
    assert found.system == system
    assert " ".join(f"{host.name}:{host.cpus}" for host in found.hosts) == hosts


def test_no_allocation() -> None:
    assert read_allocation({"PATH": "/bin", "SLURM_JOB_NODELIST": ""}) is None


def test_a_file_of_hosts(tmp_path: Path) -> None:
    path = tmp_path / "nodes"
    path.write_text("n1\nn1\nn2\n")
    found = read_allocation({"PBS_NODEFILE": str(path)})
    assert found == Allocation("pbs", (AllocatedHost("n1", 2), AllocatedHost("n2")))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (_SLURM | {"SLURM_JOB_CPUS_PER_NODE": "4(x2)"}, "is of 2 hosts, and SLURM_JOB_NODELIST of 3"),
        (_SLURM | {"SLURM_JOB_CPUS_PER_NODE": "four"}, "is no list such as"),
        ({"LSB_MCPU_HOSTS": "hostA 4 hostB"}, "is no list of hosts and numbers"),
        ({"LSB_MCPU_HOSTS": "hostA 4 $(id) 2"}, "which is no name of a host"),
        ({"LSB_MCPU_HOSTS": " "}, "names no host"),
        ({"PBS_NODEFILE": "/nowhere/nodes"}, "cannot be read"),
        ({"PBS_NODEFILE": "/dev/zero"}, "cannot be read"),
        ({"FLUX_URI": "local:///run/flux", "PATH": "/nowhere"}, "there is no flux on PATH"),
    ],
)
def test_variables_that_make_no_sense(environ: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=rf"{words}.*; unset [A-Z_]+ to measure without \w+$"):
        read_allocation(environ)


@pytest.mark.parametrize(
    ("said", "code", "hosts"),
    [("2 8 n[1-2]", 0, "n1:4 n2:4"), ("2 7 n[1-2]", 0, "n1:None n2:None"), ("no such thing", 1, "")],
)
def test_flux_is_asked(said: str, code: int, hosts: str, tmp_path: Path) -> None:
    flux = tmp_path / "flux"
    flux.write_text(f"#!/bin/sh\necho '{said}'; exit {code}\n")
    flux.chmod(0o755)
    environ = {"FLUX_URI": "local:///run/flux", "PATH": str(tmp_path), **_SLURM}
    if not hosts:
        with pytest.raises(InputError, match="'flux resource list' did not name its hosts"):
            read_allocation(environ)
        return
    found = read_allocation(environ)
    assert found is not None
    assert (found.system, " ".join(f"{host.name}:{host.cpus}" for host in found.hosts)) == ("flux", hosts)


def test_the_host_of_this_process_comes_first() -> None:
    found = Allocation("slurm", tuple(map(AllocatedHost, ("n1", "n2.cluster", "n3"))))
    assert [host.name for host in take_hosts(found, 2, "n2")] == ["n2.cluster", "n1"]
    assert take_hosts(None, 1, "n2") == ()
