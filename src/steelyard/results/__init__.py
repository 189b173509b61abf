"""A row of results for each test case, from its records."""
