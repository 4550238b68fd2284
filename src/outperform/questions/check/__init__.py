"""Whether every seed does what it should."""
