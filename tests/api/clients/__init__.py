"""Independent readers of Server-Sent Events on our stream, through a proxy that cuts and splits at any byte.

A test only has what a client's user would write: the address, the key, and, where the library leaves that to its user,
the loop that connects again with the last id. Start with `test_clients.py`; `cutting.py` is the proxy.
"""
