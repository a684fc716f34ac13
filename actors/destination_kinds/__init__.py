"""The kinds of destinations, and one table: a module or folder for each with code, a TOML file for each messenger.

`kind.py` defines a kind, `table.py` lists them.
"""
