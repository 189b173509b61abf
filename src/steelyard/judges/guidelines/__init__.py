"""Performance guidelines: is an MPI consistent with itself?"""
