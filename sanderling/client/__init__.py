"""The client of a running service, for commands, the console and extras.

`api.py` sends requests with one key, or none over the admin socket. `lines.py` lays records out, `terminal.py` prints
them. Nothing here knows the service's internals.
"""
