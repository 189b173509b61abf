"""What layers between a program and its libraries cost: time added to an operation."""
