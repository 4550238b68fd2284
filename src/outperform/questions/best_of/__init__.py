"""What the best of n will reach."""
