"""Files over ranks: what all ranks together get from a file system, as they become more."""
