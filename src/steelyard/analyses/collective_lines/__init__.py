"""Lines of collectives over sizes."""
