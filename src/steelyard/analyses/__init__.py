"""What rows make together: one folder an analysis, with its model, its tables and its pictures."""
