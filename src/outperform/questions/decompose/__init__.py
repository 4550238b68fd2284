"""What makes scores vary."""
