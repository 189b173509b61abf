"""Rows in words: names of what differs, cells, remarks, the table of rows, ratios to a rival."""
