"""Every packet that leaves: URLs, the address guard, HTTP, WebSocket, robots.txt and politeness to hosts.

Pure: `url.py`, `address.py`, `decoding.py`, `failures.py`, `outage.py`. Nothing else in the product opens a connection.
Start with `http.py`, then `connector.py`, where each address is checked at the moment of connecting.
"""
