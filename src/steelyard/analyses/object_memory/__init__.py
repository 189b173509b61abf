"""What a library keeps for each communicator, window, datatype and message, and what it does not give back."""
