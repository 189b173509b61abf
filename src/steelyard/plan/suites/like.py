"""A test of another suite, and the op that is nearest to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = float | str
LikeParams = Mapping[str, Value]

FLOATS: LikeParams = {"type": "float"}
BYTES: LikeParams = {"type": "int8"}  # MPI defines no sum of MPI_CHAR; libraries add both with the same loop
SUMS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
EVERY_CORE = 0  # threads: as many as OMP_NUM_THREADS says, or as there are cores


@dataclass(frozen=True, slots=True)
class Like:
    """A row: `program` is the suite's part that has the test, and `theirs` what that measures by default.

    `bytes` is None for an op without a size. `differs` names what differs here, and why, in a few words.
    `threads` of each rank are the default.
    """

    name: str
    op: str
    bytes: str | None = None
    params: LikeParams = field(default_factory=dict)
    differs: str = ""
    threads: int = 1
    program: str = ""
    theirs: str = ""


def sizes_of(base: str, plain: str, sums: str) -> str | None:
    """Choose the sizes of a collective: those of sums, others, or none."""
    return None if base == "barrier" else sums if base in SUMS else plain
