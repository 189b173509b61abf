"""The cost of messages by their size, as LogGP says it."""
