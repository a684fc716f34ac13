"""Connections: Hypercorn's HTTP/1.1 on our own listeners, with strict parsing and a connection limit.

`server.py` is the public listener's child; `listeners.py` answers before it runs. The admin socket and the
metrics listener are children too.
"""
