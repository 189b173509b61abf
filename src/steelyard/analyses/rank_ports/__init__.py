"""By which network interfaces each rank is connected, and whose mapping is odd."""
