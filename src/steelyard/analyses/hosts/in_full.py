"""Slow hosts of very many, which met some of the others: how to measure them with each host of a few."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.units import format_values
from steelyard.records.command_line import command, settings
from steelyard.results.row import Row

ROUNDS = "mpi.pattern.round_robin"
_ROUND = "round"  # its parameter
_LEAST = 8  # hosts that meet: seven rounds
_TIMES = 4  # so many hosts to a slow one: slow ones stay few among them


def measured_in_full(slow: Sequence[str], hosts: Sequence[str], row: Row) -> str:
    """Write the command that measures slow hosts and others, evenly chosen, each with each other.

    row: a round in which they met, whose MPI, size and parameters of the plan are meant. Empty if that would
    be no fewer hosts than there are.
    """
    others = [host for host in hosts if host not in set(slow)]
    count = max(_LEAST, _TIMES * len(slow)) - len(slow)
    if not slow or count >= len(others):
        return ""
    chosen = (others[k * len(others) // count] for k in range(count))
    params = {name: value for name, value in row.params.items() if name in row.asked and name != _ROUND}
    again = command(
        "run",
        ROUNDS,
        placement=",".join((*slow, *chosen)),
        bytes=str(row.bytes),
        mpi=row.mpi,
        method="each",
        param=[f"{_ROUND}=*", *format_values(params).split()],
    )
    return " ".join((again, *settings(row.env)))
