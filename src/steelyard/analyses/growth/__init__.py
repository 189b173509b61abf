"""How collectives grow over ranks."""
