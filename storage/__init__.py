"""Sanderling's memory: the log of events, the sources' states, and the small records around them.

Start with `records/` (the frozen records), then `interface/` (the guarantees of every engine), then
`sqlite/engine/writer.py`. This room knows nothing of actors, HTTP or supervision; it imports trio, msgspec, sqlite3 and
sqlite-utils only.
"""
