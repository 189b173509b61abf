"""Files that killed launches leave behind: of Open MPI, of MPICH and of its launcher.

A file counts as a launch's own if it has a name that these programs make, belongs to our user, is not older
than the launch, and is used by no process.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_SHARED = Path("/dev/shm")  # noqa: S108 (where the libraries put them)
# Folder (None: that of temporary files) and names. A session folder of Open MPI ends with a pid.
_NAMES: tuple[tuple[Path | None, str], ...] = (
    (_SHARED, "mpich_shm_*"),
    (_SHARED, "vader_segment.*"),  # Open MPI 4
    (_SHARED, "sm_segment.*"),  # Open MPI 5
    (_SHARED, "[0-9]*:[0-9]*:[0-9]*"),  # libfabric's shm: PID:UID:N
    (None, "hydra_hwloc_xmlfile_*"),
    (None, "ompi.*/pid.*"),  # Open MPI 4
    (None, "prterun.*"),  # Open MPI 5: its launcher's sessions, `prterun.HOST.PID.UID`
    (_SHARED, "prterun.*"),
)
_CLOCK_STEP_NS = 20_000_000  # the kernel stamps files with its time of the last tick


@contextlib.contextmanager
def leftovers_removed() -> Iterator[None]:
    """Remove, at the end, what launches have left meanwhile."""
    since_ns = time.time_ns()
    try:
        yield
    finally:
        remove_leftovers(since_ns)


def remove_leftovers(since_ns: int) -> list[Path]:
    """Remove what launches after `since_ns` (Unix time) have left; return what was removed."""
    found = [path for path in _candidates() if _is_ours(path, since_ns - _CLOCK_STEP_NS)]
    if not found:
        return []
    used = set(_used())
    removed = []
    for path in found:
        if str(path) not in used and not _is_session_of_a_process(path):
            with contextlib.suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed.append(path)
    return removed


def _candidates() -> Iterator[Path]:
    for folder, pattern in _NAMES:
        with contextlib.suppress(OSError):
            yield from (folder or Path(tempfile.gettempdir())).glob(pattern)


def _is_ours(path: Path, since_ns: int) -> bool:
    try:
        stat = path.lstat()
    except OSError:
        return False
    return stat.st_uid == os.geteuid() and stat.st_ctime_ns >= since_ns


def _is_session_of_a_process(path: Path) -> bool:
    """Is this the folder `pid.4711` or `prterun.HOST.4711.UID` of a running process?"""
    parts = path.name.split(".")
    pid = parts[-2] if parts[0] == "prterun" and len(parts) > 2 else parts[-1]
    return path.is_dir() and pid.isdigit() and Path(f"/proc/{pid}").exists()


def _used() -> Iterator[str]:
    """List the files that processes have mapped or opened."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                lines = (process / "maps").read_text(errors="replace").splitlines()
                yield from (line[line.index("/") :] for line in lines if "/" in line)
            with contextlib.suppress(OSError):
                for descriptor in (process / "fd").iterdir():
                    with contextlib.suppress(OSError):
                        yield str(descriptor.readlink())
