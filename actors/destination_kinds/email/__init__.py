"""The kind `email`: mail to one address that has agreed to it, through the operator's mail server.

`server.py` is that server as the settings name it, `session.py` speaks SMTP with it, `letter.py` makes a mail of a
notification and `replies.py` says what the server's answers mean; `kind.py` is the row.
"""
