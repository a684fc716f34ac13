"""The kinds of destinations: a folder each, with what it admits, sends and understands, and one table.

`kind.py` says what a kind is, `table.py` lists them.
"""
