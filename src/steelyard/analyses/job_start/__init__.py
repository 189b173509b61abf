"""What the start and the end of a job take, by launcher and ranks."""
