"""Messages between hosts, and what the hosts said of themselves."""
