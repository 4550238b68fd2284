"""Any result as text in the terminal, a figure, a page, or the table of a paper."""
