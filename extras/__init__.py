"""Extras: optional capabilities that the product works without, one folder each.

An extra may import the product, never another extra. `actors/extras.py` has the table of them, and each package holds
its record as `EXTRA`.
"""
