"""Mutants: one small fault at a time in the rooms that the promises rest on, and who notices.

`rooms.py` says which files and which tests; `kinds.py` what may go wrong in a line; `drawing.py` draws; `touching.py`
learns which test comes through which line; `trial.py` holds a trial in a copy of the tree. `equivalent.txt` lists those
that change nothing, each with its reason; `named.py` those that somebody planted by hand.
"""
