"""One launch: the command line that starts an engine under an MPI library."""
