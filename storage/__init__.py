"""The memory of Sanderling: the log of events, the sources' states, and the small nouns around them.

Start with `records/` (the frozen nouns), then `interface/` (what every engine promises), then
`sqlite/engine/writer.py`. This room knows nothing of actors, HTTP or supervision; it imports trio, msgspec, sqlite3 and
sqlite-utils only.
"""
