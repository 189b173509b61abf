"""Threads against processes on as many cores."""
