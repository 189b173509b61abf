"""The factors in which arms can differ, for options and messages."""

FACTORS = "mpi, shmem, engine, placement, modules, wrapper, files, param.NAME, omp.NAME or env.NAME"
# Axes of a plan: launches of their values are neighbours, too, so `compare` can hold them against each other.
AXES = ("threads", "thread_level", "ranks", "hosts", "method")
COMPARED = f"{', '.join(AXES)}, {FACTORS}"
