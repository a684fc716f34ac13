"""Messengers: chats, phones and on-call services, each described in a file of `files/`, or of a user's folder.

`messenger.py` is what a file says and `checks.py` what is wrong with one; `request.py` makes the request of a
notification and `answers.py` reads what the service says to it. `kind.py` makes a kind of destination of them. A
service that needs more than its file is not one of these.
"""
