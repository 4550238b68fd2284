"""What to run, without running it: sources, splits, search spaces, tuners, pipelines, designs.

Nothing here reads, writes or trains by itself, so that a design can be checked before any fit.
"""
