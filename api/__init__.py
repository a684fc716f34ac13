"""The Quart-Trio front end: actors by message, storage by cursor.

It may import supervision, storage, and of actors the app context, messages, errors, settings, world, query and
signatures; never source, recorder, matcher, delivery, jail or content. Start with `app.py` (every request's way through
the hooks), then `v1/sources.py` (what a noun looks like), then `reader.py` and `streams.py` (how a live stream is fed).
`server.py` is what the tree starts.
"""
