"""The screens of alerts: the list, one alert with its matches, and the form with a trial of its query.

These files read and render; `api.operations.alerts` and `api.operations.alerts` act. May import whatever
`api.dashboard` may. Start with `table.py` (the screens), then `listing.py`, `editing.py` and `one.py`.
"""
