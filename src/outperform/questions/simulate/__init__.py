"""How often rules err."""
