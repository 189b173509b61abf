"""What a process has in memory when a library has been used for the first time."""
