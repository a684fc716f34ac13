"""The service shown to somebody new: `sanderling demo` and `sanderling try`, on a shore of local origins.

`own_service.py` runs a service in a folder of its own, `shore.py` is what it watches.
"""
