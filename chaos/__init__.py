"""Real studies, harmed at random moments: is anything lost? `make chaos` runs it.

A *trial* is a study in a folder of its own. In every *round*, `outperform run` is started as
a process, and one *harm* is done to it, its workers, its store or its code at a moment drawn from
a seed; then the study is resumed. In the end its table must be that of a quiet run.
"""
