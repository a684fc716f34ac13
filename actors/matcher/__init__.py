"""Follows the log with a durable cursor and writes the deliveries due for every event.

Start with `actor.py`. Two modules are pure: `index.py` (the standing queries that a text satisfies) and `anchors.py`
(words that a query cannot match without). May import the layers below it in the order of the import contract, but not
its siblings: a nudge informs deliveries of new rows, and without one they find them in the outbox.
"""
