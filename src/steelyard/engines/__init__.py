"""MPI libraries, and the engines built for them."""
