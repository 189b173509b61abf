"""The inside of a test bed: the first process of its process namespace makes the hosts and joins them.

`hosts.py` starts it, `unshare`d from processes, network and mounts of the machine, with what is to be made as
JSON. It says "ready", or what went wrong, in one line; it ends when its standard input does, and with it, as
it is the namespace's init, every process in every host, and with those the namespaces and interfaces.
"""

from __future__ import annotations

import fcntl
import heapq
import itertools
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_NETWORK = "10.77.0"
_TUNSETIFF = 0x400454CA  # linux/if_tun.h
_IFF_TAP_NO_PI = 0x1002
_LONGEST_FRAME = 1 << 16
_BURST = 16384  # bytes that may follow each other at full speed: some frames
_AT_ONCE = 64  # frames taken from one host before the others have their turn

# A host's name, the names of all, network devices (/sys) beside the machine's control groups, shared memory,
# temporary files; then it waits.
_HOST = """set -e
echo "$1" > /proc/sys/kernel/hostname
mount --bind "$2/hosts" /etc/hosts
mkdir "$2/cgroup.$1"
mount --rbind /sys/fs/cgroup "$2/cgroup.$1"
mount -t sysfs sysfs /sys
mount --rbind "$2/cgroup.$1" /sys/fs/cgroup
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs "$2/tmp"
ip link set lo up
echo "$$"
exec sleep infinity
"""

# What stands in for ssh: AGENT [OPTION ...] HOST WORD ..., the words being for a shell, as ssh has it.
_AGENT = """#!/bin/sh
while :; do
    case $1 in
    -l | -p | -o | -i) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
[ -f "{folder}/pid.$host" ] || {{ echo "there is no host $host in this test bed" >&2; exit 255; }}
read -r pid < "{folder}/pid.$host"
export TMPDIR="{folder}/tmp"
exec nsenter --target "$pid" --net --uts --ipc --mount --time -- /bin/sh -c "cd '$PWD' && $*"
"""


def main() -> None:
    """Make what the JSON in the first argument asks for, say so, and stay."""
    wanted = json.loads(sys.argv[1])
    try:
        hub = _make(Path(wanted["folder"]), wanted["hosts"], wanted["delays"], wanted["hub_mbits"])
        for host, link in zip(wanted["hosts"], wanted["links"], strict=True):
            _limit_link(Path(wanted["folder"]), host["name"], **link)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or ""
        print(f"{error} {said}".replace("\n", " "), flush=True)
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead of the whole bed are this process's to bury
    print("ready", flush=True)
    if hub is None:
        sys.stdin.read()
    else:
        hub.work()


def _make(
    folder: Path, wanted: list[dict[str, Any]], delays: list[list[int]] | None, mbits: float
) -> _Hub | None:
    addresses = [f"{_NETWORK}.{i + 1}" for i in range(len(wanted))]
    lines = [
        "127.0.0.1 localhost",
        *(f"{a} {host['name']}" for a, host in zip(addresses, wanted, strict=True)),
    ]
    (folder / "hosts").write_text("\n".join(lines) + "\n")
    (folder / "tmp").mkdir()
    agent = folder / "agent"
    agent.write_text(_AGENT.format(folder=folder))
    agent.chmod(0o755)
    _run("ip", "link", "set", "lo", "up")
    pids = [_start_host(folder, host["name"], host["monotonic_s"]) for host in wanted]
    hub = None
    if delays is None:
        _lay_bridge(pids)
    else:
        hub = _Hub([_lay_tap(pid) for pid in pids], delays, mbits)
    for pid, address in zip(pids, addresses, strict=True):
        _run("nsenter", "-t", str(pid), "-n", "ip", "addr", "add", f"{address}/24", "dev", "eth0")
        _run("nsenter", "-t", str(pid), "-n", "ip", "link", "set", "eth0", "up")
    return hub


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, text=True, stdin=subprocess.DEVNULL, capture_output=True)


def _start_host(folder: Path, name: str, monotonic_s: int) -> int:
    """Start the process that keeps a host's namespaces; its pid in the bed."""
    argv = ["unshare", "--net", "--uts", "--ipc", "--mount", "--propagation", "private"]
    argv += ["--time", "--monotonic", str(monotonic_s), "--fork", "--kill-child"]
    keeper = subprocess.Popen(
        [*argv, "/bin/sh", "-c", _HOST, "host", name, str(folder)],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert keeper.stdout is not None
    assert keeper.stderr is not None
    pid = keeper.stdout.readline().strip()
    if not pid:
        raise OSError(f"host {name} was not made: {keeper.stderr.read().strip()}")
    (folder / f"pid.{name}").write_text(pid + "\n")
    return int(pid)


def _lay_bridge(pids: list[int]) -> None:
    _run("ip", "link", "add", "bridge", "type", "bridge")
    _run("ip", "link", "set", "bridge", "up")
    for i, pid in enumerate(pids):
        port = f"port{i}"
        _run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        _run("ip", "link", "set", port, "master", "bridge", "up")


def _limit_link(folder: Path, name: str, port: str, mbits: float, queue: int) -> None:
    """Let a host send, and be sent, so many Mbit/s, of which `queue` bytes may wait either way; 0: any."""
    if not mbits:
        return
    pid = (folder / f"pid.{name}").read_text().strip()
    shape = f"root tbf rate {mbits}mbit burst {_BURST} limit {queue}".split()
    _run("nsenter", "-t", pid, "-n", "tc", "qdisc", "add", "dev", "eth0", *shape)
    _run("tc", "qdisc", "add", "dev", port, *shape)


def _lay_tap(pid: int) -> int:
    """A host's eth0 whose other end is a file of ours: the file."""
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", b"eth0", _IFF_TAP_NO_PI))
    _run("ip", "link", "set", "eth0", "netns", str(pid))
    return tap


class _Hub:
    """Carries each frame from a host to all others, `delays[from][to]` ns later.

    With `mbits` one frame is carried after another, so many Mbit/s in all; none is lost. In user space
    because not every kernel has netem. Frames between two hosts keep their order.
    """

    def __init__(self, taps: list[int], delays: list[list[int]], mbits: float) -> None:
        self._taps = taps
        self._byte_ns = 8e3 / mbits if mbits else 0.0
        self._free = 0  # when what came before has been carried, ns
        self._delays = delays
        self._due: list[tuple[int, int, int, bytes]] = []  # when, which, to whom, what
        self._numbers = itertools.count()
        Path("/proc/self/timerslack_ns").write_text("1")  # 50 us otherwise, by which each frame were late

    def work(self) -> None:
        """Until standard input ends."""
        while True:
            wait = max(0, self._due[0][0] - time.monotonic_ns()) / 1e9 if self._due else None
            readable = select.select([0, *self._taps], [], [], wait)[0]
            if 0 in readable and not os.read(0, 1):
                return
            for sender, tap in enumerate(self._taps):
                if tap in readable:
                    self._take(sender)
            while self._due and self._due[0][0] <= time.monotonic_ns():
                _, _, to, frame = heapq.heappop(self._due)
                _write(self._taps[to], frame)

    def _take(self, sender: int) -> None:
        for _ in range(_AT_ONCE):
            try:
                frame = os.read(self._taps[sender], _LONGEST_FRAME)
            except BlockingIOError:
                return
            now = self._free = max(time.monotonic_ns(), self._free) + round(self._byte_ns * len(frame))
            for to in range(len(self._taps)):
                if to != sender:
                    due = now + self._delays[sender][to]
                    heapq.heappush(self._due, (due, next(self._numbers), to, frame))


def _write(tap: int, frame: bytes) -> None:
    """A full queue or an interface not yet up loses the frame, as a wire would."""
    try:
        os.write(tap, frame)
    except OSError:
        return


if __name__ == "__main__":
    main()
