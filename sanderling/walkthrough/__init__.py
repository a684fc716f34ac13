"""Introduce the service: `sanderling demo` and `sanderling try`, with an origin on loopback.

`own_service.py` runs a service in a temporary folder, `origin.py` is the site it watches.
"""
