"""What a library keeps in memory for each communicator, window, datatype and message."""
