"""Configuration as files: `sanderling apply` makes a service as the files of a folder say, and no more than that.

Files -> `reading.py` -> what is wanted; the service -> `state.py` -> what is there; `planning.py` compares the two and
decides (pure), `acting.py` does it, `showing.py` says it in words. `kinds/` has a file and a row for each kind of thing
that files may describe. The other way round: `writing.py`. See docs/decisions/managed-records.md.
"""
