"""The screens of destinations and their deliveries: how each stands, what was sent and answered, what comes next.

What is done to a destination is in `api.operations.destinations` and `api.operations.replays`. May import what
`api.dashboard` may, and of `actors.delivery` only the arithmetic of times (`clock.py`). Start with `table.py` (the
screens), then `standing.py`.
"""
