"""Rows of results, one for each test case, from its records."""
