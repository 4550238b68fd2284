"""Measurements on disk: each recorded once, none ever lost."""

from outperform.store.measurement import Added, Measurement, RunLabel
from outperform.store.sqlite import SqliteStore

__all__ = ["Added", "Measurement", "RunLabel", "SqliteStore"]
