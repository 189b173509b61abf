"""One-sided calls of several libraries side by side."""
