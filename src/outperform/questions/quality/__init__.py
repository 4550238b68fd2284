"""What each design is worth."""
