"""Sums of 16-bit numbers over more ranks than a job here can have: what each adds, and what is expected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.engines.build import engine_folder
from steelyard.engines.mpi import Mpi, mpi_environment
from steelyard.system.process import run

_SOURCE = Path(__file__).parents[1] / "data" / "sums_of_16_bits.c"
_SECONDS = 600


def test_a_sum_is_exact_however_many_ranks_add_to_it(tmp_path: Path, one_mpi: Mpi) -> None:
    if one_mpi.mpicc is None:
        pytest.skip(f"{one_mpi.name} has no mpicc")
    engine, program = engine_folder(), tmp_path / "sums"
    parts = [engine / name for name in ("ops/mpi/coll/reduction.c", "ops/mpi/coll/number.c", "base/err.c")]
    environment = os.environ | mpi_environment(one_mpi)
    argv: list[str | Path] = [
        one_mpi.mpicc,
        "-std=c17",
        "-O1",
        "-I",
        engine,
        "-o",
        program,
        _SOURCE,
        *parts,
        "-lm",
    ]
    done = run(argv, env=environment, timeout=_SECONDS)
    assert done.code == 0, done.err
    done = run([program], env=environment, timeout=_SECONDS)
    assert (done.code, done.out) == (0, "")
