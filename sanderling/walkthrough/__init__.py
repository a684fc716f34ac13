"""The service shown to somebody new: `sanderling demo` and `sanderling try`, over an origin on loopback.

`own_service.py` runs a service in a folder of its own, `origin.py` is what it watches.
"""
