"""Notifications: what a person reads of an event, a digest or a notice, in the letters of any service. Pure.

`reading.py` makes a notification of what is delivered, `inert.py` takes out of a page's words what could act by itself,
`dialects.py` says how a service marks text up, and `fitting.py` makes the text, cut to a service's limit.
"""
