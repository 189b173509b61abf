"""Slow hosts of very many, which met some of the others: how to measure them with each host of a few."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.command_line import command

ROUNDS = "mpi.pattern.round_robin"
_LEAST = 8  # hosts that meet: seven rounds
_TIMES = 4  # so many hosts to a slow one: slow ones stay few among them


def measured_in_full(slow: Sequence[str], hosts: Sequence[str], size: int) -> str:
    """Write the command that measures slow hosts and others, evenly chosen, each with each other.

    size: bytes of a message. Empty if that would be no fewer hosts than there are.
    """
    others = [host for host in hosts if host not in set(slow)]
    count = max(_LEAST, _TIMES * len(slow)) - len(slow)
    if not slow or count >= len(others):
        return ""
    chosen = (others[k * len(others) // count] for k in range(count))
    return command(
        "run", ROUNDS, placement=",".join((*slow, *chosen)), bytes=str(size), method="each", param=["round=*"]
    )
