"""What threads cost: rates over threads."""
