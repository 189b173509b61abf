"""Shared objects that stand between an engine and its MPI, loaded before it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from steelyard.engines.build import Engine
from steelyard.engines.mpi import mpi_environment
from steelyard.system.process import run

_SECONDS = 600


def build_preloaded(engine: Engine, source: Path, folder: Path) -> Path:
    """A C file as a shared object for the library that an engine uses; skips where no compiler fits."""
    assert engine.mpi is not None
    mpicc = engine.mpi.mpicc
    links = run(["ldd", engine.path], env=os.environ | mpi_environment(engine.mpi), timeout=_SECONDS).out
    if "libmpi_abi" in links and mpicc is not None:
        mpicc = shutil.which(f"{mpicc}_abi")
    if mpicc is None:
        pytest.skip(f"{engine.mpi.name} has no mpicc for the library that its engine uses")
    library = folder / f"{source.stem}.so"
    argv = [mpicc, "-shared", "-fPIC", "-O1", "-pthread", "-o", str(library), str(source)]
    done = run(argv, env=os.environ | mpi_environment(engine.mpi), timeout=_SECONDS)
    if done.code != 0:
        pytest.skip(f"no shared object can be built with {mpicc}: {done.err}")
    return library


def fault_words(call: str, kind: str, **more: int) -> str:
    """A fault, as tests/data/faults.c reads it."""
    return ",".join((f"call={call}", f"kind={kind}", *(f"{name}={value}" for name, value in more.items())))
