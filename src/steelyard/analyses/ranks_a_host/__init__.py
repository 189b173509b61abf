"""What pairs of ranks on two hosts reach together, by the number of ranks a host."""
