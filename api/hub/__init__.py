"""The WebSub hub of our feeds (W3C Recommendation of 23 January 2018). It notifies subscribers at once.

Start with `actor.py`. `endpoint.py` takes subscription requests. The actor verifies each with its callback, follows the
log, and posts new events to all subscribers. A subscriber is a cursor into the log, not rows in an outbox: ten thousand
subscribers of one feed cost ten thousand numbers (docs/decisions/websub.md).
"""
