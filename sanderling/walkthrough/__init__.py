"""Show the service to a newcomer: `sanderling try`.

`tour.py` shows one change step by step, on a service of its own in a temporary folder. `material/` is read by `check`.
"""
