"""What people ask of runs: one folder per question."""
