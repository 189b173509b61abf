"""Each rank with each other: times of patterns as matrices."""
