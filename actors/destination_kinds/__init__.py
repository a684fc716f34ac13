"""The kinds of destinations: a folder each, and one table.

`kind.py` defines a kind, `table.py` lists them.
"""
