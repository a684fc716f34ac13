"""Notifications: the text of an event, a digest or a notice for people, in any service's markup. Pure.

`reading.py` makes a notification of a delivery, `inert.py` removes characters that act by themselves, `dialects.py`
defines a service's markup, and `fitting.py` makes the text, cut to a service's limit.
"""
