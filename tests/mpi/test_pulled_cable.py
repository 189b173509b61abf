"""A cable that is pulled while ranks of two hosts measure: the launch ends in time, and names the host."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hosts import Hosts, hosts
from on_hosts import skip_without_hosts, steelyard_on
from steelyard.results.rows import results

pytestmark = [pytest.mark.ours, pytest.mark.further, pytest.mark.xdist_group("waits")]

_HANG_AFTER = "5s"
_SAMPLES = "count=1000000"  # far more than are taken until the cable is pulled
_SECONDS = 120.0


def _pull(bed: Hosts, number: int) -> None:
    """Take away what connects a host with the bridge; the host itself sees a cable without a carrier."""
    into = ("nsenter", "--target", str(bed.pid), f"--pid=/proc/{bed.pid}/ns/pid_for_children")
    line = ("ip", "link", "set", f"port{number}", "down")
    subprocess.run([*into, "--net", "--mount", "--", *line], check=True)


def test_the_host_behind_it_is_named(tmp_path: Path) -> None:
    skip_without_hosts()
    out = tmp_path / "out"
    words = ("mpi.pingpong", "--bytes", "8", "-n", "2", "--hosts", "2", "--mpi", "openmpi", "--launches", "1")
    fixed = (
        "--rule",
        "fixed",
        "--param",
        _SAMPLES,
        "--param",
        "most_seconds=60",
        "--hang-after",
        _HANG_AFTER,
    )
    with hosts(2) as bed, ThreadPoolExecutor(1) as others:
        running = others.submit(steelyard_on, bed, "run", *words, *fixed, "--out", str(out))
        deadline = time.monotonic() + _SECONDS
        while not _measures(out) and not running.done():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        _pull(bed, 1)
        said = running.result()
    assert said.code == 3, said.err
    (row,) = results(out)
    assert (row.why or "").startswith(f"hang: no record for {_HANG_AFTER}, ended by the watchdog")
    assert ", and no rank of h2 answers" in (row.why or "") or "; h2 cannot be reached: " in (row.why or "")
    assert "Look at that host and its network, " in said.err or "Leave a lost host out of" in said.err


def _measures(out: Path) -> bool:
    return any(b'"record":"obs"' in path.read_bytes() for path in out.glob("records/*.jsonl"))
