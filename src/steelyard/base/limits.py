"""Limits of a system that checks of a machine, of launches and of results share."""

from steelyard.base.plural import counted
from steelyard.base.units import format_memory

LEAST_SHM = 16 << 20  # bytes of /dev/shm for each rank: the most that MPI libraries map there
COARSE_TIMER_NS = 1000  # a kernel without high-resolution timers says 1 to 10 ms


def little_shm(room: object, ranks: int) -> str | None:
    """Write `16 MiB of 16 MiB free in /dev/shm for 2 ranks`, if that is less than MPI libraries map there.

    `room` is what a record or the system says: the size and what is free, in bytes; anything else is unknown.
    """
    if not (isinstance(room, list | tuple) and len(room) == 2 and all(isinstance(n, int) for n in room)):
        return None
    if ranks < 2 or room[1] >= LEAST_SHM * ranks:
        return None
    free = f"{format_memory(room[1])} of {format_memory(room[0])} free"
    return f"{free} in /dev/shm for {counted(ranks, 'rank')}"
