"""The screens of destinations and their deliveries: how each stands, what was sent and answered, what comes next.

What is done to a destination is in `api.acts.destinations` and `api.acts.replays`. May import what `api.dashboard` may,
and of `actors.delivery` only the arithmetic of times (`clock.py`). Start with `table.py` (the screens), then
`standing.py`.
"""
