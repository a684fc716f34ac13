"""Mutants: one small fault at a time in the rooms that the promises depend on, and which tests notice it.

`rooms.py` lists files and tests; `kinds.py` the possible faults of a line; `drawing.py` draws; `touching.py` records
which test runs which line; `trial.py` tests a mutant in a copy of the tree. `equivalent.txt` lists mutants that change
nothing, with reasons; `named.py` has some planted by hand.
"""
