"""Slurm on this machine: munged, slurmctld and several slurmd with files, ports and a socket of their own.

All are children of the test and end with it, by their pids; the kernel ends them if it is killed, and another
child the jobs, which are nobody's children. Nodes have
names of their own and share the machine: a job on two nodes has two slurmd, and its ranks see one host. Or
they are the hosts of a bed, with a network and a clock for each.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hosts import Host, Hosts

_PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "srun": "slurm-client",
    "sbatch": "slurm-client",
    "setpriv": "util-linux",
}
_DIES_WITH_US = ("setpriv", "--pdeathsig", "TERM", "--")
# Ends what carries a mark in its environment when its standard input ends, as it does if the test is killed.
_REAPER = """import os, signal, sys, time
sys.stdin.read()
for _ in range(100):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if int(pid) != os.getpid() and sys.argv[1].encode() in file.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    time.sleep(0.05)
"""
_UP_SECONDS = 300.0
_END_SECONDS = 100.0

_CONF = """ClusterName=steelyard{ports[0]}
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
MpiDefault=none
ReturnToService=2
EnforcePartLimits=ALL
KillWait=2
MailProg=/bin/true
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Why there can be no Slurm here, in a sentence; None when there can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            return f"a Slurm of one machine needs the program {program} (package {package})"
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where daemons run: on this machine, or each in its host of a bed, the controller in the first."""

    bed: Hosts | None = None

    def words(self, node: int, *argv: str) -> list[str]:
        """The command that runs `argv` where this node is, from 0."""
        return [*argv] if self.bed is None else [*self.bed.on(self._host(node)), shlex.join(argv)]

    def name(self, node: int) -> str:
        """By which the others find it."""
        return socket.gethostname().partition(".")[0] if self.bed is None else self._host(node).name

    def address(self, node: int) -> str:
        """Likewise, on the network."""
        return "127.0.0.1" if self.bed is None else self._host(node).name

    def _host(self, node: int) -> Host:
        assert self.bed is not None
        return self.bed.hosts[node]


@contextlib.contextmanager
def slurm(nodes: int, cpus: int, switches: int = 0, bed: Hosts | None = None) -> Iterator[Mapping[str, str]]:
    """Slurm with so many nodes of so many CPUs: the variables by which its commands find it.

    Nodes hang from `switches`, the first ones from the first, below one that joins them; 0: nobody knows.
    With a `bed` node i is its host i, and commands find Slurm in its hosts alone.
    Raises RuntimeError, with the last lines of its logs, where it does not come up.
    """
    place = _Place(bed)
    folder = Path(tempfile.mkdtemp(prefix="steelyard-slurm-"))
    folder.chmod(0o755)
    daemons: list[subprocess.Popen[bytes]] = []
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    reaper = subprocess.Popen(
        [sys.executable, "-c", _REAPER, str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        _start(folder, nodes, cpus, switches, place, environment, daemons)
        yield {"SLURM_CONF": environment["SLURM_CONF"]}
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            _cancel(place, environment)
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        reaper.kill()
        reaper.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def _configure(folder: Path, nodes: int, cpus: int, switches: int, place: _Place) -> list[str]:
    """Write the files that the daemons read, and list the names of the nodes."""
    ports = _free_ports(nodes + 1)
    names = [f"n{i + 1}" for i in range(nodes)]
    lines = [
        f"NodeName={name} NodeHostname={place.name(i)} NodeAddr={place.address(i)} Port={ports[i + 1]} "
        f"CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=500 "
        "State=UNKNOWN"
        for i, name in enumerate(names)
    ]
    munge = folder / "munge"
    for made in (
        munge,
        folder / "state",
        *(folder / f"{kind}.{name}" for kind in ("spool", "tmp") for name in names),
    ):
        made.mkdir(mode=0o755)
    (munge / "key").touch(mode=0o600)
    (munge / "key").write_bytes(os.urandom(128))
    if switches:
        lines.append("TopologyPlugin=topology/tree")
        (folder / "topology.conf").write_text(_topology(names, switches))
    (folder / "slurm.conf").write_text(
        _CONF.format(
            ports=ports,
            folder=folder,
            host=f"{place.name(0)}({place.address(0)})",
            nodes="\n".join(lines),
        )
    )
    return names


def _start(
    folder: Path,
    nodes: int,
    cpus: int,
    switches: int,
    place: _Place,
    environment: Mapping[str, str],
    daemons: list[subprocess.Popen[bytes]],
) -> None:
    def start(name: str, node: int, *argv: str) -> None:
        log = (folder / f"{name}.log").open("wb")
        with log:
            daemons.append(
                subprocess.Popen(
                    [*_DIES_WITH_US, *place.words(node, *argv)],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    names = _configure(folder, nodes, cpus, switches, place)
    munge = folder / "munge"
    files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "seed")]
    start("munged", 0, "munged", "--foreground", "--force", f"--socket={munge / 'socket'}", *files)
    _await(folder, (munge / "socket").exists)
    start("slurmctld", 0, "slurmctld", "-D", "-c", "-i")
    for i, name in enumerate(names):
        start(name, i, "slurmd", "-D", "-N", name)

    def idle() -> bool:
        done = subprocess.run(
            place.words(0, "sinfo", "-h", "-t", "idle", "-o", "%D"),
            env=environment,
            capture_output=True,
            text=True,
            timeout=_UP_SECONDS,
            check=False,
        )
        return done.stdout.strip() == str(nodes)

    _await(folder, idle)


def _topology(names: list[str], switches: int) -> str:
    """The lines of a topology.conf."""
    each = -(-len(names) // switches)
    below = [names[i * each : (i + 1) * each] for i in range(switches)]
    lines = [f"SwitchName=s{i} Nodes={','.join(own)}" for i, own in enumerate(below)]
    return "\n".join([*lines, f"SwitchName=top Switches=s[0-{switches - 1}]", ""])


def _await(folder: Path, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _UP_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            logs = (f"{log.name}: {log.read_text(errors='replace')[-500:]}" for log in folder.glob("*.log"))
            raise RuntimeError("Slurm did not come up\n" + "\n".join(logs))
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _cancel(place: _Place, environment: Mapping[str, str]) -> None:
    """End all jobs and wait until none is left, for their steps are nobody's children."""

    def ask(*argv: str) -> str:
        command = place.words(0, *argv)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_END_SECONDS, check=False
        )
        return done.stdout.strip()

    jobs = ask("squeue", "--noheader", "--format=%A").split()
    if jobs:
        ask("scancel", *jobs)
    deadline = time.monotonic() + _END_SECONDS
    while ask("squeue", "--noheader", "--format=%A") and time.monotonic() < deadline:
        time.sleep(0.2)
