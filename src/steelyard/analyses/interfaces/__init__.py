"""Which network interface of each host moved the bytes of a test case, and how full its line was."""
