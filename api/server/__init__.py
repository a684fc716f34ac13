"""Connections: Hypercorn's HTTP/1.1 on our own listeners, with strict parsing and a connection limit.

Start with `server.py`, the children of the tree: the public listener, the admin socket and the metrics listener.
`http1.py` parses a connection, answers each request and runs a stream.
"""
