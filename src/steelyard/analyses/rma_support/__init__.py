"""Which one-sided calls work, and with what."""
