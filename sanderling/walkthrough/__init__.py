"""Show the service to a newcomer: `sanderling try`.

`tour.py` shows one change step by step; `own_service.py` runs its service in a temporary folder.
"""
