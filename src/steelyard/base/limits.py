"""Limits of a system that checks of a machine and of results share."""

LEAST_SHM = 16 << 20  # bytes of /dev/shm for each rank: the most that MPI libraries map there
COARSE_TIMER_NS = 1000  # a kernel without high-resolution timers says 1 to 10 ms
