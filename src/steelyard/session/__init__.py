"""What is done with plans and results folders, for the command line and for Python alike; nothing prints."""
