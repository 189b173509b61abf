"""Is an MPI consistent with itself: performance guidelines, measured and judged."""
