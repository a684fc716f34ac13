"""Messengers: chats, phones and on-call services, each described in a file of `files/`, or of a user's folder.

`messenger.py` reads and checks a file; `kind.py` makes a kind of destination of it. A service that needs code is not
one of these.
"""
