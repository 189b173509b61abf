"""A test bed: several "hosts" on one machine, with clocks that are off by known amounts and real TCP between.

A host is a set of namespaces: network, host name, System V IPC, mounts, and time. CLOCK_MONOTONIC of two
hosts differs by exactly what was asked for, because beneath it is one clock: the truth against which a
synchronisation is held. The hosts' network interfaces are joined by a bridge, or by a hub in user space that
delays each frame by a known time. Linux as root only; `why_not()` says what is missing.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.mpi import Mpi, mpi_environment

_UNSHARED = (
    "--pid",
    "--net",
    "--mount",
    "--propagation",
    "private",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
_PROGRAMS = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "mount": "mount"}
_END_SECONDS = 10.0

# All that a bed makes, on trial in a namespace that ends with it.
_TRIAL = """set -e
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /dev/shm
echo trial > /proc/sys/kernel/hostname
mount --bind /etc/hosts /etc/hosts
ip link add bridge type bridge
ip link add port type veth peer name eth1
"""
_TRIAL_TAP = "ip tuntap add tap0 mode tap\n"


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a bed, and by how many ns its CLOCK_MONOTONIC is ahead of the first host's."""

    name: str
    offset_ns: int


@dataclass(frozen=True, slots=True)
class Link:
    """A host's link to the bridge: Mbit/s either way (0: as fast as the machine is), and the bytes that may
    wait for it; what comes beyond them is lost.
    """

    mbits: float = 0.0
    queue: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Start:
    """How to start ranks on the hosts: `[*argv_prefix, program, ...]` with os.environ | environment."""

    argv_prefix: tuple[str, ...]
    environment: dict[str, str]


@dataclass(frozen=True, slots=True)
class Hosts:
    """A bed that stands. Rank r of `mpiexec()` is on the host r // ranks_per_host."""

    hosts: tuple[Host, ...]
    agent: str
    pid: int

    def on(self, host: Host) -> tuple[str, ...]:
        """What to put before one word for a shell to have it run on a host."""
        into = ("nsenter", "--target", str(self.pid), "--net", "--mount")
        return (*into, f"--pid=/proc/{self.pid}/ns/pid_for_children", "--", self.agent, host.name)

    def mpiexec(self, mpi: Mpi, ranks_per_host: int = 1) -> Start:
        """Start ranks on all hosts, from the first host. Raises KeyError for a family without a row."""
        major = int(mpi.version.partition(".")[0])
        argv, environment = FAMILIES[mpi.family](self, major, ranks_per_host)
        ranks = str(ranks_per_host * len(self.hosts))
        prefix = (*self.on(self.hosts[0]), mpi.mpiexec, *argv, "-n", ranks)
        return Start(prefix, mpi_environment(mpi) | environment)


def _openmpi(bed: Hosts, major: int, per_host: int) -> tuple[list[str], dict[str, str]]:
    """A waiting rank gives way: kernel threads that carry the messages need the cores too."""
    to_launcher = "--mca" if major < 5 else "--prtemca"
    agent, interface = (
        ("plm_rsh_agent", "oob_tcp_if_include") if major < 5 else ("plm_ssh_agent", "prte_if_include")
    )
    argv = [to_launcher, agent, bed.agent, to_launcher, interface, "eth0", "--bind-to", "none"]
    argv += ["--mca", "btl", "tcp,self,vader" if major < 5 else "tcp,self,sm", "--mca", "pml", "ob1"]
    argv += ["--mca", "btl_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1"]
    argv += ["-H", ",".join(f"{host.name}:{per_host}" for host in bed.hosts)]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return argv, root | {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}  # for OpenSHMEM, which has no btl


def _mpich(bed: Hosts, major: int, per_host: int) -> tuple[list[str], dict[str, str]]:
    """UCX tries every transport that a machine might have, which takes minutes, unless told.

    MPICH 5 sleeps for a moment when it waits; 4 may never give its core away, and needs one for each rank.
    """
    argv = ["-launcher", "rsh", "-launcher-exec", bed.agent, "-bind-to", "none"]
    argv += ["-hosts", ",".join(host.name for host in bed.hosts), "-ppn", str(per_host)]
    heavy = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"} if major >= 5 else {}
    return argv, {"UCX_TLS": "tcp,self"} | heavy


FAMILIES = {"openmpi": _openmpi, "mpich": _mpich}


@functools.lru_cache
def why_not(*, hub: bool = False) -> str | None:
    """Why no bed can be made here, in one sentence (with a hub, if asked); None when one can."""
    if sys.platform != "linux":
        return "a test bed of hosts needs Linux"
    if os.geteuid() != 0:
        return "a test bed of hosts needs root"
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            return f"a test bed of hosts needs the program {program} (package {package})"
    if hub and not Path("/dev/net/tun").exists():
        return "a hub needs /dev/net/tun, which this machine does not have"
    argv = ["unshare", *_UNSHARED, "--uts", "--ipc", "--time", "--monotonic", "1"]
    argv += ["/bin/sh", "-c", _TRIAL + (_TRIAL_TAP if hub else "")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode == 0:
        return None
    said = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
    return (
        f"this system does not let namespaces, mounts or interfaces be made for a test bed of hosts: {said}"
    )


@contextlib.contextmanager
def hosts(
    count: int,
    offsets_s: Sequence[int] = (),
    delays_s: Mapping[tuple[int, int], float] | None = None,
    links: Mapping[int, Link] | None = None,
    hub_mbits: float = 0.0,
) -> Iterator[Hosts]:
    """Make `count` hosts, h1, h2, ..., for as long as the `with` lasts; nothing of them is left at its end.

    `offsets_s[i]`, whole seconds, is how far host i's CLOCK_MONOTONIC is to be ahead of the others', from any
    origin: all are moved up so that none is behind the machine's, which a clock younger than the offset would
    not survive. `delays_s[i, j]`, in seconds, is how long a frame takes from host i to host j (0 where not
    named), through a hub instead of the bridge; `hub_mbits` is what the hub carries of all hosts together, in
    Mbit/s (0: as much as it can). `links[i]` limits what goes between host i and the bridge.
    Raises OSError when the bed cannot be made.
    """
    offsets = [*offsets_s, *[0] * (count - len(offsets_s))]
    lowest = min(offsets)
    names = [f"h{i + 1}" for i in range(count)]
    delays = None
    if delays_s is not None:
        delays = [[round(1e9 * delays_s.get((i, j), 0)) for j in range(count)] for i in range(count)]
    with tempfile.TemporaryDirectory(prefix="bed-") as folder:
        wanted = {
            "folder": folder,
            "hosts": [{"name": n, "monotonic_s": o - lowest} for n, o in zip(names, offsets, strict=True)],
            "delays": delays,
            "hub_mbits": hub_mbits,
            "links": [_link_words(i, (links or {}).get(i, Link())) for i in range(count)],
        }
        argv = ["unshare", *_UNSHARED, sys.executable, "-I", str(Path(__file__).with_name("bed.py"))]
        with _kept([*argv, json.dumps(wanted)]) as pid:
            made = (Host(n, (o - offsets[0]) * 10**9) for n, o in zip(names, offsets, strict=True))
            yield Hosts(tuple(made), f"{folder}/agent", pid)


def _link_words(host: int, link: Link) -> dict[str, str | float]:
    return {"port": f"port{host}", "mbits": link.mbits, "queue": link.queue}


@contextlib.contextmanager
def _kept(argv: Sequence[str]) -> Iterator[int]:
    """A process that says "ready" and stays until its standard input ends, which it does if we are killed."""
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        said = process.stdout.readline().strip()
        if said != "ready":
            raise OSError(f"the test bed was not made: {said or 'it ended at once'}")
        yield process.pid
    finally:
        process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # unshare's --kill-child takes the bed's first process along, and that all others
            process.wait()
        process.stdout.close()
