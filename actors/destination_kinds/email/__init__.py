"""The kind `email`: mail to one address that has agreed to it, through the operator's mail server.

`kind.py` is the row and makes the mails, `session.py` speaks SMTP with the server.
"""
