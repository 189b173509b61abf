"""The factors in which arms can differ, for options and messages."""

FACTORS = "mpi, shmem, engine, placement, modules, wrapper, files, param.NAME, omp.NAME or env.NAME"
