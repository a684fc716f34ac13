"""The standby: a copy of the database on a second machine, kept from the replica, and the take-over.

`following.py` keeps the copy, `taking_over.py` is the command. Start with `following.py`.
"""
