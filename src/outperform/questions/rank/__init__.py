"""Which of many algorithms are best, over many tasks."""
