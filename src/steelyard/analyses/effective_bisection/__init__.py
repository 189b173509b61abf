"""The effective bisection bandwidth: the mean over drawn matchings of all ranks."""
