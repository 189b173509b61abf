"""Models of several test cases together: overlap, scaling, efficiency, rankings."""
