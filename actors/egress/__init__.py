"""Every packet that leaves: URLs, the address guard, HTTP, WebSocket, robots.txt and politeness to hosts.

Pure: `url.py`, `address.py`, `headers.py`, `decoding.py`, `failures.py`. Nothing else in the product opens
a connection. Start with `traffic.py` (all of it in one bundle), then `guard.py`, which checks each address at the
moment of connecting, and `http.py`.
"""
