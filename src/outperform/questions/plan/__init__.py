"""How many runs it takes."""
