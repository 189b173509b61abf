"""The words of an engine for kinds of ops and methods; docs/internals/op.md explains them."""

BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"  # forms
CALL, LATENCY, BANDWIDTH, COLLECTIVE, KERNEL = "call", "latency", "bandwidth", "collective", "kernel"  # roles
RATE, PATTERN, NOISE, WORK, FILE = "rate", "pattern", "noise", "work", "file"
INSTRUMENT, FAULT = "instrument", "fault"
COPY, SHARED_MEMORY, PIPE, NETWORK, MPI = "copy", "shared memory", "pipe", "network", "mpi"  # layers
LAYERS = (COPY, SHARED_MEMORY, PIPE, NETWORK, MPI)  # the lowest first
LOWER, UPPER = "lower", "upper"  # bounds
