"""The OpenSHMEM libraries of this machine: found on PATH, chosen by name or path.

A library is known by its launcher, which is that of the MPI that it was built with: Open MPI's for the
OpenSHMEM that comes with it, Hydra for Sandia's. Its compiler wrapper stands beside it. It is an `Mpi` of
another kind, so that whatever starts ranks starts its ranks, too.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

from steelyard.base.engine_kinds import OPENSHMEMS, SHMEM, engine_kind
from steelyard.base.errors import InputError
from steelyard.base.files import home_path
from steelyard.engines.mpi import (
    Mpi,
    first_file,
    identify,
    is_file,
    is_new,
    is_place,
    named_apart,
    prefix_of,
)

_LAUNCHERS = ("oshrun", "shmemrun")
_WRAPPERS = ("oshcc", "shmemcc")


def find_shmems() -> tuple[Mpi, ...]:
    """Find all OpenSHMEM libraries whose launchers are on PATH, the default first."""
    return tuple(named_apart(_probe(launcher, "path") for launcher in _launchers()))


def choose_shmem(choice: str | None) -> Mpi:
    """Choose the OpenSHMEM named `oshmem`, `oshmem-4.1.4`, or at a path: a prefix, an oshcc, an oshrun.

    None is the default. Raises InputError for an unknown one, with the known names, or where there is none.
    """
    if choice is not None and is_place(choice):
        return _at_path(home_path(choice))
    shmems = find_shmems()
    for shmem in shmems:
        if choice in (None, shmem.name, shmem.name.partition("-")[0]):
            return shmem
    if not shmems:
        raise InputError(
            "no OpenSHMEM was found: there is no oshrun or shmemrun on PATH; on Debian and Ubuntu type: apt "
            "install openmpi-bin libopenmpi-dev; or give --shmem the path of one"
        )
    names = [shmem.name for shmem in shmems]
    near = difflib.get_close_matches(choice or "", [*names, *OPENSHMEMS.values()], n=1)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    raise InputError(f"no OpenSHMEM is named '{choice}'{hint} Found: {', '.join(names)}. Or give a path")


def names_shmem(choice: str | None) -> bool:
    """Does a name or path mean an OpenSHMEM, and no MPI?"""
    if choice is None:
        return False
    if is_place(choice):
        path = home_path(choice)
        is_launched = first_file(path / "bin", _LAUNCHERS) is not None  # by one of its own, and by no MPI's
        return path.name in (*_LAUNCHERS, *_WRAPPERS) or (
            is_launched and first_file(path / "bin", ("mpiexec", "mpirun")) is None
        )
    return engine_kind(choice) == SHMEM


def _launchers() -> Iterator[Path]:
    """List launchers on PATH, each program once."""
    known = set[str]()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        launcher = first_file(Path(folder), _LAUNCHERS) if folder else None
        if launcher is not None and is_new(launcher, known):
            yield launcher


def _probe(launcher: Path, origin: str) -> Mpi | None:
    """Identify the OpenSHMEM of a launcher; None for an unknown one."""
    identity = identify(launcher)
    if identity is None or identity[0] not in OPENSHMEMS:
        return None
    family, version = identity
    wrapper = first_file(launcher.parent, _WRAPPERS)
    prefix = prefix_of(launcher)
    return Mpi(
        name=f"{OPENSHMEMS[family]}-{version}",
        family=family,
        version=version,
        mpicc=str(wrapper) if wrapper else None,
        mpiexec=str(launcher),
        prefix=str(prefix) if prefix else None,
        abi=False,
        origin=origin,
        kind="shmem",
    )


def _at_path(path: Path) -> Mpi:
    """Identify the OpenSHMEM of a prefix, a wrapper or a launcher. Raises InputError."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 (links are to stay)
    if os.path.isdir(path):  # noqa: PTH112 (Path.is_dir raises for a folder that we may not enter)
        launcher = first_file(path / "bin", _LAUNCHERS) or first_file(path, _LAUNCHERS)
    else:
        launcher = first_file(path.parent, _LAUNCHERS) if path.name in _WRAPPERS else path
    if launcher is None or not is_file(launcher):
        raise InputError(
            f"'{path}' holds no oshrun or shmemrun; give the prefix of an OpenSHMEM, its oshcc or its oshrun"
        )
    shmem = _probe(launcher, "given")
    if shmem is None:
        raise InputError(
            f"'{launcher}' is no oshrun of Open MPI or Sandia OpenSHMEM, by what --version prints; give one"
        )
    return shmem
