"""What Hydra's text proves of a death: it names the first rank in order, and one number of all ranks."""

from __future__ import annotations

import pytest

from steelyard.campaign.cause_of_death import cause_of_death
from steelyard.records.failure_kinds import remedies
from steelyard.records.parts import Place

# As MPICH 4.0.2 and 5.0.2 said it of two processes that ended by two signals in one millisecond.
_TEXT = """
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID {pid} RUNNING AT vm
=   EXIT CODE: {status}
=   CLEANING UP REMAINING PROCESSES
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Words (signal {told})
"""
_PIDS = (500, 501, 502)
_SEVERAL = "signal unknown on several ranks, of which mpiexec tells one number ({})"


@pytest.mark.parametrize(
    ("named", "status", "told", "why"),
    [
        (1, 11, 11, "signal 11 (SIGSEGV) on rank 1"),
        (1, 139, 11, "signal 11 (SIGSEGV) on rank 1"),  # with a core file
        (0, 31, 31, "signal 31 (SIGSYS) on rank 0"),  # rank 2 died of SIGKILL
        (0, 4, 13, "signal 4 (SIGILL) on rank 0"),  # and another of SIGKILL
        (0, 9, 31, _SEVERAL.format(31)),  # SIGKILL, and SIGSYS on rank 1
        (0, 9, 15, _SEVERAL.format(15)),  # SIGKILL by Hydra, and SIGBUS or SIGTERM on rank 2
        (0, 9, 9, "signal 9 (SIGKILL) on a rank"),  # Hydra ends rank 0 when it sees that rank 1 was killed
        (1, 15, 15, "signal 15 (SIGTERM) on a rank"),
        (2, 9, 9, "signal 9 (SIGKILL) on rank 2"),  # all others ended with 0
        (None, 9, 9, "signal 9 (SIGKILL) on a rank"),
    ],
)
def test_a_death_is_laid_to_whom_the_text_proves(named: int | None, status: int, told: int, why: str) -> None:
    places = [
        Place(rank=rank, host="vm", cpus="0", cpu=0, clock_cost_ns=1, clock_tick_ns=1, pid=pid)
        for rank, pid in enumerate(_PIDS)
    ]
    said = _TEXT.format(pid=4711 if named is None else _PIDS[named], status=status, told=told)
    assert cause_of_death(9, said, ["/usr/bin/mpiexec", "-n", "3"], places) == why
    if why == _SEVERAL.format(31):
        assert remedies([why], "") == []
