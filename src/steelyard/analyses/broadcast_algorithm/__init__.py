"""Which algorithm a broadcast seems to use."""
