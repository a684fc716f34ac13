"""The screens of destinations and deliveries: state, attempts, answers, next attempts.

`api.operations.destinations` and `api.operations.replays` act. May import whatever `api.dashboard` may, and from
`actors.delivery` only the arithmetic of times (`clock.py`). Start with `table.py` (the screens), then `standing.py`.
"""
