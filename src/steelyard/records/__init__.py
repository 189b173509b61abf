"""Records: what the engine wrote, line by line."""
