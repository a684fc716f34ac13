"""Sources: the list, adding, one source in full, its settings, and the choice of its watched part.

May import whatever `api.dashboard` may. Start with `listing.py`.
"""
