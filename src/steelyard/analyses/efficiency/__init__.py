"""MPI against the layers below it."""
