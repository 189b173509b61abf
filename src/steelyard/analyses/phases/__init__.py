"""How much of their time kernels spend in each phase, and how near to STREAM."""
