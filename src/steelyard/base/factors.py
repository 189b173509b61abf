"""The factors in which arms can differ, for options and messages."""

FACTORS = "mpi, engine, placement, modules, wrapper, param.NAME, omp.NAME or env.NAME"
