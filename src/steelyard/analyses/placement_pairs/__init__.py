"""One test case on many pairs of CPUs or hosts."""
