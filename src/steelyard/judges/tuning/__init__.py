"""Which algorithms of collectives to choose, the file that tells a library, and whether it is worth it."""
