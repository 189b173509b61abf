"""Plans: what a user asks for, resolved to test cases."""
