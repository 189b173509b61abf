"""How much communication hides behind work."""
