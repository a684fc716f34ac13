"""Notifications: the text of an event, a digest or a notice for people, in any service's markup. Pure.

`headline.py` makes headlines and a notification of a delivery, `dialects.py` defines a service's markup and removes
characters that act by themselves, and `fitting.py` makes the text, cut to a service's limit. `message_template.py`
fills in a user's own text. Start with `headline.py`.
"""
