"""Runs with little shared memory: what libraries make of it, and what is said of their numbers.

The small /dev/shm is in a mount namespace of its own, which root alone may make.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commands import FIXED
from steelyard.base.diagnostic import Diagnostic
from steelyard.diagnostics.results import diagnostics
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import Mpi
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of

_NAMESPACE = ("unshare", "--mount", "--propagation", "private")
_SECONDS = 900.0  # far more than any run takes


def _can_mount() -> bool:
    try:
        command = [*_NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/dev/shm"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _can_mount(), reason="needs unshare, and root to mount a small /dev/shm")
def test_little_shared_memory_is_told(tmp_path: Path, mpi: Mpi) -> None:
    row, found, said = _run(tmp_path / "out", mpi, "1m")
    assert "note: 1 MiB of 1 MiB free in /dev/shm for 2 ranks: an MPI library may die of that" in said
    assert "1 MiB of 1 MiB free in /dev/shm for 2 ranks" in found["shared-memory"].evidence
    assert f"of {row.mpi} (" in found["shared-memory"].evidence
    if mpi.family == "openmpi" and mpi.version.startswith("4"):  # its components are files of their own
        assert row.status == "ok"
        assert row.transport == "tcp"
        assert found["sockets"].cause == "shared-memory"
    else:
        assert "sockets" not in found


@pytest.mark.skipif(not _can_mount(), reason="needs unshare, and root to mount a small /dev/shm")
def test_a_library_that_dies_of_it_has_it_as_the_cause(tmp_path: Path, mpi: Mpi) -> None:
    """As MPICH 5 does, by SIGSEGV before it measures; others have room enough."""
    row, _, _ = _run(tmp_path / "out", mpi, "16m")
    if row.status == "ok":
        pytest.skip("it has room enough")
    assert "start-up: shared memory: " in (row.why or "")


def _run(folder: Path, mpi: Mpi, size: str) -> tuple[Row, dict[str, Diagnostic], str]:
    """One test case of two ranks, however it ends, and what was said meanwhile."""
    words = ("mpi.pingpong", "-n", "2", "--bytes", "8", "--mpi", mpi.mpiexec, "--oversubscribe", *FIXED)
    run = [str(scripts_folder() / "steelyard"), "run", *words, "--out", str(folder)]
    plant = ["sh", "-c", f'mount -t tmpfs -o size={size} none /dev/shm && exec "$@"', "sh", *run]
    command = [*_NAMESPACE, *plant]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    measured = load(folder)
    rows = rows_of(measured)
    return rows[0], {one.name: one for one in diagnostics(measured, rows)}, done.stderr
