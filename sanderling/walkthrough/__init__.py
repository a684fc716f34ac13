"""Introduce the service: `sanderling try`.

`tour.py` shows one change step by step; `own_service.py` runs its service in a temporary folder.
"""
