"""The parts of the cost of a message: sender, receiver, network."""
