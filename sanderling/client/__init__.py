"""The commands' client of a running service, and its answers in lines: one service, one key (`api.py`).

`naming.py` finds what a person means by a name, `speaking.py` is how to ask and how to make sure; `terminal.py` shows
events as they come, `status.py` the whole service; each other file is a group of commands. It knows nothing of the
service's inside.
"""
