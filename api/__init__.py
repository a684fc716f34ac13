"""The HTTP front end, on Quart-Trio. It reaches actors by message and storage by cursor.

From actors it may import the app context, messages, errors, settings, world, query and signatures; never source,
recorder, matcher, delivery, jail or content. It may import supervision and storage. Start with `app.py` (the path of
every request), then `v1/sources.py` (a typical noun), then `streams/` (live streams). The supervision tree starts
`server/`.
"""
