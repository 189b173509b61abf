"""Why there is no engine, in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from steelyard.engines.mpi import Mpi

_WRAPPERS_READ = ("OMPI_CC", "MPICH_CC", "I_MPI_CC")  # variables with the compiler of an MPI's wrapper

_NO_LIBRARY = re.compile(r"error while loading shared libraries: ([^\s:]+): cannot open")  # glibc's words
_OLD_LIBRARY = re.compile(r"(?<!\S)(\S+): version `(\S+)' not found \(required by")  # likewise
_LIBGOMP = " (libgomp.so.1 is in the package libgomp1 of Debian and Ubuntu, libgomp of others)"


def not_described(path: str, code: int, said: str) -> str:
    """Say why an engine did not describe itself. A wheel's engine takes libraries of the system."""
    if (lacks := _NO_LIBRARY.search(said)) is not None:
        where = _LIBGOMP if lacks[1] == "libgomp.so.1" else ""
        return f"'{path}' needs {lacks[1]}, which is not on this system; install it{where}"
    if (older := _OLD_LIBRARY.search(said)) is not None:
        return (
            f"'{path}' needs {older[2]}, and {older[1]} is too old to have it; put a newer one on "
            "LD_LIBRARY_PATH, or install Steelyard from its source on this system"
        )
    lines = said.strip().splitlines()
    return f"'{path} describe' failed with code {code}: {lines[-1] if lines else 'it said nothing'}"


def no_wrapper(mpi: Mpi) -> str:
    """Say why no engine can be built for an MPI without an mpicc of its own, an OpenSHMEM without oshcc."""
    wrapper = {"mpi": "mpicc", "shmem": "oshcc"}[mpi.kind]
    beside = Path(mpi.mpiexec).with_name(wrapper)
    if beside.is_file():
        return (
            f"{beside} is not of {mpi.name}, whose mpiexec is beside it, so no engine can be built; give the "
            "prefix of one MPI, whose mpiexec and mpicc belong together"
        )
    return (
        f"{mpi.name} has no {wrapper} beside {mpi.mpiexec}, so no engine can be built for it; "
        "install its development package (libopenmpi-dev, libmpich-dev)"
    )


def no_compiler(wrapper: str, compiler: str, environment: Mapping[str, str]) -> str:
    """Say that the compiler of a wrapper does not exist, and who names it."""
    for name in _WRAPPERS_READ:
        if environment.get(name, "").split()[:1] == [compiler]:
            return f"{name} names the compiler '{compiler}', and there is none; correct it, or unset {name}"
    return f"{wrapper} needs a C compiler, '{compiler}', and there is none; install gcc"
