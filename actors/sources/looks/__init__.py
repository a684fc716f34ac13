"""The common parts of every check: request, effect on memory, drafts. Start with `looking.py`, then `progress.py`."""
