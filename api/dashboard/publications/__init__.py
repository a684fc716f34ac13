"""The screens of publications: the list, the form of a new one, one with its addresses, which can be changed and taken
back.

May import what `api.dashboard` may. Start with `listing.py`.
"""
