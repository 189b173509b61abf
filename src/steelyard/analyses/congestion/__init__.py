"""How much slower a victim is while other ranks load the network."""
