"""Rows as words and tables, for the terminal and the report alike."""
