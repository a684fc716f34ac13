"""The screens of alerts: all of them, one with its matches, and the form that shows what a query would have told.

What is read and shown is made here, what is done to an alert is in `api.operations.alerts` and `api.operations.trials`.
May import what `api.dashboard` may. Start with `table.py` (the screens), then `listing.py`, `editing.py` and `one.py`.
"""
