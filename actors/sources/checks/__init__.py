"""The common parts of every check: request, effect on memory, drafts.

Start with `source_fetch.py`, then `progress.py`.
"""
