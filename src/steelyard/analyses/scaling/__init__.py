"""How whole programs scale over ranks and threads."""
