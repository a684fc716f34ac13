"""Feed documents: events as Atom, RSS and JSON Feed. Pure.

A format is a function and a row of `formats.py`. `entry.py` makes the content of an entry for all formats, with texts
from `actors/notification/`. Start with `formats.py`.
"""
