"""Independent SSE clients read our stream through a proxy that cuts and splits it at any byte.

A test has only the code that a client's user would write: the address, the key, and, if the library does not
reconnect, the loop that resumes after the last id. Start with `test_clients.py`; `cutting.py` is the proxy.
"""
