"""The latency of messages that are offered at a rate, and where it rises."""
