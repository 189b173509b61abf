"""Noise of each core that the noise ops watched."""
