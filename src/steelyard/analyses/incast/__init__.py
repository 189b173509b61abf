"""Many senders to one receiver: what they reach together, by their number, and how evenly."""
