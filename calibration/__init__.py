"""How often every rule, interval and test errs: `python -m calibration` writes the page of it."""
