"""Records: the lines that the engine writes."""
