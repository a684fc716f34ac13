"""Values in texts: money, numbers, percentages, dates, versions, availability, read once; and the kinds of a change.

All of it is pure. Start with `reading.py` (all values of a text), then `kinds.py` (the kinds of a difference).
"""
