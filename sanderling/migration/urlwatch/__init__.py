"""urlwatch and webchanges: the YAML of their jobs. They are relatives, and share most of their words.

`jobs.py` makes sources of jobs, `filters.py` says what of a filter chain a source can hold, `reporters.py` makes
destinations of who was told. Commands are never run.
Pure; may import what the other readers may.
"""
