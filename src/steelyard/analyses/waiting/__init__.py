"""What a rank burns while it waits for a message, when it is woken, and what it takes from a neighbour."""
