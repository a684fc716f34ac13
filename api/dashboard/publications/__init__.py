"""The screens of publications: the list, the form of a new one, and one with its addresses, to change or delete.

May import whatever `api.dashboard` may. Start with `listing.py`.
"""
