"""The kind `email`: mail to one address that has agreed to it, through the operator's mail server.

`server.py` is that server from the settings, `session.py` speaks SMTP with it, `letter.py` makes a mail of a
notification and `replies.py` interprets the server's replies; `kind.py` is the row.
"""
