"""Runs with 1 MiB of shared memory: what libraries make of it, and what is said of their numbers.

The small /dev/shm is in a mount namespace of its own, which root alone may make.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commands import FIXED
from steelyard.base.diagnostic import Diagnostic
from steelyard.checks import diagnostics
from steelyard.engines.mpi import Mpi, scripts_folder
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of

_NAMESPACE = ("unshare", "--mount", "--propagation", "private")
_SECONDS = 300.0  # far more than any run takes


def _can_mount() -> bool:
    try:
        command = [*_NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/dev/shm"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _can_mount(), reason="needs unshare, and root to mount a small /dev/shm")
def test_little_shared_memory_is_told(tmp_path: Path, mpi: Mpi) -> None:
    row, found = _run(tmp_path / "out", mpi)
    assert "1 MiB of 1 MiB free in /dev/shm for 2 ranks" in found["shared-memory"].evidence
    assert f"of {row.mpi} (" in found["shared-memory"].evidence
    if mpi.family == "openmpi" and mpi.version.startswith("4"):  # its components are files of their own
        assert row.status == "ok"
        assert row.transport == "tcp"
        assert found["sockets"].cause == "shared-memory"
    else:
        assert "sockets" not in found


def _run(folder: Path, mpi: Mpi) -> tuple[Row, dict[str, Diagnostic]]:
    """One test case of two ranks, however it ends."""
    words = ("mpi.pingpong", "-n", "2", "--bytes", "8", "--mpi", mpi.mpiexec, "--oversubscribe", *FIXED)
    run = [str(scripts_folder() / "steelyard"), "run", *words, "--out", str(folder)]
    plant = ["sh", "-c", 'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"', "sh", *run]
    subprocess.run([*_NAMESPACE, *plant], capture_output=True, timeout=_SECONDS, check=False)
    measured = load(folder)
    rows = rows_of(measured)
    return rows[0], {one.name: one for one in diagnostics(measured, rows)}
