"""Choose the launcher of ranks: the one that is named, that of the allocation, or the MPI's own."""

from __future__ import annotations

import functools
import os
import shutil

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.printable import visible
from steelyard.engines.mpi import Mpi
from steelyard.launch.launchers import LAUNCHERS, Launcher
from steelyard.launch.waiting_settings import library_of
from steelyard.system.allocation import Allocation
from steelyard.system.process import run

_ASK_SECONDS = 30.0


def choose_launcher(word: str | None, mpi: Mpi, allocation: Allocation | None) -> Launcher:
    """Choose the launcher that `word` names, by row or by program; without a word the usual one.

    That is the launcher of the batch system around us, if it exists and starts this MPI, else the mpiexec of
    the MPI. Raises InputError for a launcher that does not exist, or that cannot start the MPI.
    """
    own = next(row for row in LAUNCHERS if row.name == library_of(mpi.family, mpi.version).own)
    able = [row for row in LAUNCHERS if mpi.family in row.starts and (row.program is not None or row is own)]
    if word is None:
        inside = allocation.system if allocation else None
        found = (
            row for row in able if row.within is not None and row.within == inside and why_not(row) is None
        )
        return next(found, own)
    check_launcher(word)
    named = [row for row in LAUNCHERS if word in (row.name, row.word)]
    fitting = [row for row in named if row in able]
    if not fitting:
        names = ", ".join(dict.fromkeys(row.word for row in able))
        raise InputError(f"the launcher {word} does not start {mpi.name}; give --launcher one of {names}")
    reasons = [why_not(row) for row in fitting]
    if None not in reasons:
        raise InputError(f"the launcher {word} cannot be used: {reasons[0]}; leave --launcher out")
    return fitting[reasons.index(None)]


def check_launcher(word: str) -> None:
    """Raise InputError for a launcher that nobody knows."""
    if word not in launcher_names():
        raise InputError(f"there is no launcher '{visible(word)}'; give one of {', '.join(launcher_names())}")


def launcher_names() -> tuple[str, ...]:
    """List the values of --launcher: programs, and names of rows."""
    return tuple(dict.fromkeys([*(row.word for row in LAUNCHERS), *(row.name for row in LAUNCHERS)]))


def why_not(row: Launcher) -> str | None:
    """Explain in half a sentence why a launcher cannot be used here; None if it can."""
    return _why_not(row.name, os.environ.get("PATH", ""))


@functools.lru_cache
def _why_not(name: str, path: str) -> str | None:
    """Ask once for each PATH, because a campaign has many launches."""
    row = next(row for row in LAUNCHERS if row.name == name)
    if row.program is None:
        return None
    if shutil.which(row.program, path=path) is None:
        return f"there is no {row.program} on PATH"
    if row.known_by is None:
        return None
    arguments, text = row.known_by
    try:
        done = run([row.program, *arguments], timeout=_ASK_SECONDS)
    except (InputError, MeasurementError) as error:
        return str(error)
    if text not in done.out + done.err:
        return f"'{row.program} {' '.join(arguments)}' does not name {text}"
    return None
