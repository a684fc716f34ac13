"""Sanderling's memory: the log of events, the sources' states, and the small records around them.

Start with `records/` (the frozen records), then `sql/` (the stores and their guarantees), then `sqlite/engine.py`.
This room knows nothing of actors, HTTP or supervision; it imports trio, msgspec, PyNaCl, sqlite3 and sqlite-utils
only.
"""
