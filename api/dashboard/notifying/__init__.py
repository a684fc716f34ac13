"""Alerts, destinations and deliveries: their lists, forms and buttons.

May import the same as `api.dashboard`, and from `actors.delivery` only the arithmetic of times (`deliveries.py`).
Start with `alerts.py`, then `destinations.py`.
"""
