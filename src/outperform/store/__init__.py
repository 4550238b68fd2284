"""Measurements kept for good: each recorded once, none ever lost."""

from outperform.store.measurement import Added, Measurement, RunLabel
from outperform.store.store import Store, is_store, open_store

__all__ = ["Added", "Measurement", "RunLabel", "Store", "is_store", "open_store"]
