"""Steelyard inside the frameworks that sites already run; each module imports its framework."""
