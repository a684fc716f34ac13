"""The WebSub hub of our feeds (W3C Recommendation of 23 January 2018): who subscribes is told what is new at once.

`endpoint.py` takes wishes to subscribe; `actor.py` has each confirmed by its callback, follows the log, and posts to
all subscribers what is new to them. A subscriber has a cursor into the log and no rows of an outbox: ten thousand of
one feed cost ten thousand numbers (docs/decisions/websub.md).
"""
