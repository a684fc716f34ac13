"""Connections: HTTP/1.1 by Hypercorn on listeners of ours, read strictly, and how many of them there may be.

`server.py` is the public listener's child, `startup_listener.py` answers before there is one; the admin socket and the
listener of the metrics are children of their own.
"""
