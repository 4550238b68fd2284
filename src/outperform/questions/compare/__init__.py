"""Whether A outperforms B."""
