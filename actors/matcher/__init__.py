"""Follows the log with a durable cursor and writes the deliveries due for every event.

Start with `actor.py`. `index.py` is pure: the standing queries that a text satisfies. May import the layers below it in
the order of the import contract, but not its siblings: a nudge informs deliveries of new rows, and without one they
find them in the outbox.
"""
