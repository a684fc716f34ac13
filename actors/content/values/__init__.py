"""Values in texts: money, numbers, shares, dates, versions, availability, read once; and the kinds of a change.

All of it is pure. Start with `reading.py` (all values of a text), then `amounts.py` (how a number is written),
`currencies.py`, `availability.py` and `kinds.py` (what a difference altered).
"""
