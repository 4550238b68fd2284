"""Runs in, results out, in machine learning's words."""
