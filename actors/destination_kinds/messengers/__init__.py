"""Messengers: chats, phones and on-call services, each described in a file of `files/`, or of a user's folder.

`messenger.py` has a file's records and `checks.py` validates them; `request.py` makes the request of a notification
and `answers.py` interprets the response. `kind.py` makes a kind of destination of a messenger. A service that needs
more than its file is not one of these.
"""
