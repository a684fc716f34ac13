"""Follows the log with a durable cursor and writes, for every event, what must be delivered.

Start with `actor.py`; pure are `index.py` (which of many standing queries a text satisfies) and `anchors.py` (which
words a query can't do without). May import the layers below it in the order that the import contract gives; blind to
its siblings: deliveries learn of new rows by a nudge, and find them in the outbox without one.
"""
