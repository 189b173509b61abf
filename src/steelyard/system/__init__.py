"""This host: processes, CPUs, settings of the kernel, who else runs here."""
