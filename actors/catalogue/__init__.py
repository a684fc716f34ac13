"""Catalogues: things that are described in TOML files, ours beside those of a user's folder.

`reading.py` makes a record of a file, or says what is wrong with it and in which line; `catalogue.py` holds the records
of the built-in files and of a folder. Templates and kinds of destinations are read by it.
"""
