"""Feed documents: events as Atom, RSS and JSON Feed. Pure.

A format is a file and a row of `formats.py`. What an entry says is made once, in `entry.py`, in the words that people
are told in (`notification`). Start with `formats.py`.
"""
