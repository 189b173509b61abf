"""Started as one of several ranks: which variables of launchers say so, and what the command line answers."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

import pytest

from steelyard.base.errors import InputError
from steelyard.cli import under_launcher as alone
from steelyard.cli.main import _COMMANDS
from steelyard.cli.run_options import RunOptions
from steelyard.system.started_as import StartedAs, started_as

_OPENMPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "1"}
_BATCH = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
_STEP = {**_BATCH, "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        (_OPENMPI, StartedAs(1, 2, "mpirun")),
        ({**_OPENMPI, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, None),
        ({"PMI_RANK": "0", "PMI_SIZE": "3"}, StartedAs(0, 3, "mpiexec")),
        ({"PMI_RANK": "0", "PMI_SIZE": "1", "MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "0"}, None),
        ({"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}, StartedAs(1, 2, "mpiexec")),
        ({"FLUX_TASK_RANK": "3", "FLUX_JOB_SIZE": "4"}, StartedAs(3, 4, "flux run")),
        (_BATCH, None),  # a script of sbatch has the job's tasks, and no step
        (_STEP, StartedAs(1, 2, "srun")),
        ({**_STEP, "SLURM_PTY_PORT": "4711"}, None),  # srun --pty bash
        ({**_STEP, "PMI_RANK": "0", "PMI_SIZE": "1"}, None),  # mpiexec -n 1 by way of srun
        ({"PMIX_RANK": "0"}, None),
        ({"PMIX_RANK": "2"}, StartedAs(2, None, "prterun")),
        ({"PALS_RANKID": "1"}, StartedAs(1, None, "mpiexec")),
        ({"PMI_RANK": "zero", "PMI_SIZE": "2"}, None),
    ],
)
def test_only_launchers_of_several_ranks_count(
    environ: Mapping[str, str], expected: StartedAs | None
) -> None:
    assert started_as(environ) == expected


def _answer(
    monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str], words: str, options: RunOptions
) -> str:
    """The sentence of this rank, the exit code of one that ends silently, or "works"."""
    monkeypatch.setattr(os, "environ", environ)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["/usr/bin/steelyard", *words.split()])
    worked: list[RunOptions] = []
    try:
        alone.started_alone(worked.append)(options)
    except InputError as error:
        return str(error)
    except SystemExit as end:
        return f"exit {end.code}"
    assert worked == [options]
    return "works"


@pytest.mark.parametrize(
    ("words", "options", "typed"),
    [
        ("run mpi.bcast", RunOptions(), "steelyard run mpi.bcast -n 2"),
        ("run mpi.bcast -n 4", RunOptions(ranks="4"), "steelyard run mpi.bcast -n 4"),
        ("run mpi.bcast --hosts 2", RunOptions(hosts="2"), "steelyard run mpi.bcast --hosts 2"),
        ("run -- mpi.i*", RunOptions(), "steelyard run -n 2 -- 'mpi.i*'"),
    ],
)
def test_rank_0_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, words: str, options: RunOptions, typed: str
) -> None:
    zero = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    assert _answer(monkeypatch, zero, words, options) == (
        "mpirun started steelyard itself as 2 ranks, and steelyard starts the ranks that it measures; "
        f"type: {typed}"
    )


def test_one_rank_speaks_and_a_single_one_works(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = "several ranks, and steelyard starts the ranks that it measures; type: steelyard run x"
    for environ, expected in (
        (_OPENMPI, "exit 2"),
        ({}, "works"),
        ({"PMIX_RANK": "0"}, "works"),
        ({"PMIX_RANK": "1"}, f"prterun started steelyard itself as {unknown}"),
        ({"PMIX_RANK": "2"}, "exit 2"),
    ):
        assert _answer(monkeypatch, environ, "run x", RunOptions()) == expected


def test_commands_that_measure_are_those_that_start_ranks() -> None:
    assert {name for name, row in _COMMANDS.items() if row.measures} == {
        *("run", "check", "check guidelines", "tune", "accept", "rerun", "validate"),
    }
