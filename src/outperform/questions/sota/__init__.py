"""How much of a top score is luck."""
