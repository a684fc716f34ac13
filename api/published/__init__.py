"""Publications as readers get them, without a key: a page of events, one event, and feeds.

Like the bin endpoint it lies before Quart: a feed reader asks every few minutes for what has mostly not changed, and
nothing here needs a session, a cookie or a route. Start with `endpoint.py`.
"""
