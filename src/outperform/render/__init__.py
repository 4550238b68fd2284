"""Any result as text in the terminal, a figure, or a page."""
