"""Sources: the list, adding, one source in full, its settings, and the choice of its watched part.

May import the same as `api.dashboard`. Start with `listing.py`.
"""
