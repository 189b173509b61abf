"""What a system or a library refuses to a launch, for real: each refusal is told as what it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from points import mpi_or_skip
from steelyard.campaign.cause_of_death import LaunchPhase, cause_of_death
from steelyard.engines.build import mpi_engine, solo_engine
from steelyard.engines.mpi import mpi_environment
from steelyard.records.failure_kinds import remedies
from steelyard.system.process import run

_SECONDS = 600.0
_UID = "64123"  # nobody's: the processes of this user are counted, and root's are not limited
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def _why(command: list[str], environment: Mapping[str, str]) -> str:
    """The sentence about a launch that cannot go well."""
    done = run(command, env={**os.environ, **environment}, timeout=_SECONDS)
    assert done.code != 0
    return cause_of_death(done.code, done.err + done.out, command, phase=LaunchPhase.STARTING)


def _few_processes(count: int) -> list[str]:
    """Before a command: another user, who may have so many processes and threads, and may open our files."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("prlimit") is None:
        pytest.skip("needs root, setpriv and prlimit")
    caps = [f"--{kind}-caps=-all,+dac_override" for kind in ("inh", "ambient")]
    prefix = ["setpriv", f"--reuid={_UID}", *caps, "prlimit", f"--nproc={count}"]
    if run([*prefix, "true"], timeout=_SECONDS).code != 0:
        pytest.skip("capabilities cannot be kept by another user here")
    return prefix


@pytest.mark.parametrize(
    ("count", "words", "why"),
    [
        (1, ("op=omp.barrier", "threads=2"), "rank 0: thread 1 could not be made: "),
        (1, ("op=pthread.barrier", "threads=2"), "rank 0: thread 1 could not be made: "),
        (2, ("--ranks", "2", "op=self.empty"), "a process could not be made: "),
    ],
)
def test_a_limit_on_processes(count: int, words: tuple[str, ...], why: str) -> None:
    command = [*_few_processes(count), solo_engine().path, "run", *words, "rule=fixed"]
    told = _why(command, {})
    assert told.startswith(f"start-up: limit: {why}")
    assert told.endswith("Resource temporarily unavailable")
    assert "ulimit -u" in remedies([told], "hostname")[0]


_LOST = "by mca_ess_pmi.so"  # of Open MPI 4, which at times loses its own words before it exits
_ATTEMPTS = 8


@pytest.mark.parametrize(
    ("name", "variables", "why"),
    [
        (
            "embedded",
            {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "nonexistent"},
            "libfabric has no provider that was asked for (FI_PROVIDER)",
        ),
        (
            "mpich",
            {"MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "nonexistent"},
            "UCX has no transport 'nonexistent' (UCX_TLS); it has ",
        ),
        (
            "openmpi",
            {"OMPI_MCA_pml": "ucx", "OMPI_MCA_btl": "nonexistent"},
            "Open MPI has no component ",
        ),
    ],
)
def test_a_provider_that_is_not_there(name: str, variables: dict[str, str], why: str) -> None:
    mpi = mpi_or_skip(name)
    command = [mpi.mpiexec, "-n", "2", mpi_engine(mpi).path, "run", "op=mpi.barrier", "rule=fixed"]
    for _ in range(_ATTEMPTS):
        told = _why(command, {**mpi_environment(mpi), **_ROOT, **variables})
        if _LOST not in told:
            break
    assert told.startswith(f"start-up: settings: {why}")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--oversubscribe", "--bind-to", "core", "-n"), "more processes than cpus on a resource"),
        (("-n",), "There are not enough slots available"),
    ],
)
def test_ranks_that_cannot_be_placed(words: tuple[str, ...], why: str) -> None:
    mpi = mpi_or_skip("openmpi")
    if not mpi.version.startswith("4."):
        pytest.skip("these are the words of Open MPI 4")
    command = [mpi.mpiexec, *words, str(2 * (os.cpu_count() or 1)), shutil.which("true") or "/bin/true"]
    told = _why(command, _ROOT)
    assert told.startswith("start-up: settings: ")
    assert "could not place the ranks" in told
    assert why in told
    assert Path(command[0]).name in told
