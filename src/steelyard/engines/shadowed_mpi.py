"""The user's MPI behind that of an activated environment, where a wheel put its mpirun beside steelyard."""

from __future__ import annotations

import shutil
from pathlib import Path

from steelyard.base.files import real_path

_PROGRAMS = ("mpirun", "mpiexec", "mpicc")


def hidden_mpi(path: str, scripts: Path) -> str | None:
    """Say in a sentence which program of the user's a PATH hides behind those in `scripts`; None: none."""
    folders = [folder for folder in path.split(":") if folder]
    for name in _PROGRAMS:
        first = shutil.which(name, path=path)
        if first is None or real_path(Path(first).parent) != real_path(scripts):
            continue
        others = [folder for folder in folders if real_path(Path(folder)) != real_path(scripts)]
        if (own := shutil.which(name, path=":".join(others))) is not None:
            return f"{name} is {first} while this environment is activated, and hides {own}"
    return None
