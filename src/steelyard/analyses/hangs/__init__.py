"""Where ranks were when a launch hung."""
