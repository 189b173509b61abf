"""What arms can differ in, as options and messages say it."""

FACTORS = "mpi, engine, placement, modules, wrapper, param.NAME, omp.NAME or env.NAME"
