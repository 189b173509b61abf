"""What several test cases say together: overlap, scaling, efficiency, rankings."""
