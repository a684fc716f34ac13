"""Newcomers: each way to have the program, gone as its page says, in a place where nothing is.

`ways.py` is the table: what a reader types to install it, to serve, to be rid of it. `place.py` is an empty folder, or
a throw-away copy of this system; `journey.py` what a newcomer does there. `make newcomers` goes all of them.
"""
