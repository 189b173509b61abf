"""The bandwidth that pairs of ranks share."""
