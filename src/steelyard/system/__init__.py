"""This host: processes, CPUs, settings of the kernel, other users of it."""
