"""Messengers: chats, phones and on-call services, each described in a file of `files/`, or of a user's folder.

`messenger.py` has a file's records, reads and checks it; `kind.py` makes a kind of destination of it. A service that
needs more than its file is not one of these.
"""
