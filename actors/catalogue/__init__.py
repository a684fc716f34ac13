"""Catalogues: things described in TOML files, built in or from a user's folder.

`reading.py` turns a file into a record, or reports each mistake with its line. `catalogue.py` holds the records of the
built-in files and of a folder. Templates and kinds of destinations use it.
"""
