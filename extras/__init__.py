"""Extras: optional capabilities that the product works without, one folder each.

Start with the table of them in `actors/extras.py`. Each package holds its record as `EXTRA`. An extra may import the
product, never another extra.
"""
