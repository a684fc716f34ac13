"""The commands' client of a running service: one service, one key (`api.py`).

`naming.py` resolves names, `speaking.py` sends requests and asks for confirmation, `terminal.py` prints live events,
`status.py` the whole service. Each other file is a group of commands. Nothing here knows the service's internals.
"""
