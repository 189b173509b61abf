"""Was this program itself started as one of several ranks, as in `mpirun -n 2 steelyard run ...`?"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

# Variables of a rank's number and of the number of ranks, and who sets them. The first that is there counts:
# a library's launcher starts its ranks by way of the batch system's. Where nobody tells the number of ranks,
# a number above 0 tells that there are several. None of them is set for a script by the batch system alone.
_TOLD: tuple[tuple[str, str | None, str], ...] = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"),
    ("PMI_RANK", "PMI_SIZE", "mpiexec"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS", "mpiexec"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"),
    ("PALS_RANKID", None, "mpiexec"),
    ("ALPS_APP_PE", None, "aprun"),
    ("PMIX_RANK", None, "prterun"),
)
# `srun -n 16 --pty bash` is how an allocation is used by hand: its first task is a shell.
_IN_A_SHELL = {"SLURM_PROCID": "SLURM_PTY_PORT"}


class StartedAs(Struct, frozen=True):
    """A rank's number, the number of all (None: unknown, but several), and what started them."""

    rank: int
    ranks: int | None
    launcher: str

    @property
    def is_speaker(self) -> bool:
        """Is it the first rank that knows that it is not alone?"""
        return self.rank == (1 if self.ranks is None else 0)


def started_as(environ: Mapping[str, str]) -> StartedAs | None:
    """Find out which of several ranks this process is; None if it is alone."""
    for number, count, launcher in _TOLD:
        if number not in environ or (count is not None and count not in environ):
            continue
        if _IN_A_SHELL.get(number, "") in environ:
            return None
        rank, ranks = _whole(environ[number]), _whole(environ[count]) if count is not None else None
        if rank is None or (count is not None and ranks is None):
            continue
        is_alone = rank == 0 if ranks is None else ranks < 2
        return None if is_alone else StartedAs(rank, ranks, launcher)
    return None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
