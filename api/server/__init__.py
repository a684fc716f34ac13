"""Connections: Hypercorn's HTTP/1.1 on our own listeners, with strict parsing and a connection limit.

Start with `server.py`, the children of the tree: the public listener, the admin socket and the metrics listener.
`listeners.py` answers before they run, `http1.py` parses, `exchange.py` answers one request, `live.py` runs a stream.
"""
