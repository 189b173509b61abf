"""A rank that a signal ends removes its files of shared memory, and none that only looks like one."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from steelyard.engines.build import solo_engine
from steelyard.system.process import Child


@pytest.mark.parametrize(
    ("name", "number", "stays"),
    [
        ("mpich_shm_{pid}", signal.SIGTERM, False),
        ("mpich_shm_{pid}", signal.SIGSEGV, False),
        ("mpich_shm_{pid}", signal.SIGABRT, False),
        ("{pid}:{uid}:7", signal.SIGTERM, False),
        ("steelyard-{pid}-19e5", signal.SIGTERM, False),
        ("steelyard-{pid}-19e5:{uid}:7", signal.SIGTERM, False),
        ("steelyard-{pid}.jsonl", signal.SIGTERM, True),
        ("steelyard-{pid}-night", signal.SIGTERM, True),
        ("{pid}:30", signal.SIGTERM, True),
    ],
)
def test_what_a_rank_has_open(name: str, number: signal.Signals, stays: bool) -> None:
    """The names have a pid, so that no other run of this test has the same."""
    out = Path("/dev/shm", name.format(pid=os.getpid(), uid=os.getuid()))
    words = ["op=self.spin", "rule=fixed", "count=1e7", "most_seconds=300"]
    deadline = time.monotonic() + 600
    try:
        with Child([solo_engine().path, "run", "--out", str(out), *words]) as child:
            while b'"record":"obs"' not in (out.read_bytes() if out.exists() else b""):
                assert time.monotonic() < deadline
                child.pause(0.01)
            os.kill(child.pid, number)
            assert child.wait(600) == -number
        assert out.exists() is stays
    finally:
        out.unlink(missing_ok=True)
