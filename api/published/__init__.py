"""Publications for readers, without a key: a page of events, one event, and feeds.

It runs before Quart, like the bin endpoint: feed readers poll every few minutes, mostly for unchanged content, and need
no session, cookie or route. Start with `endpoint.py`.
"""
