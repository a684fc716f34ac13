"""The HTTP front end, on Quart-Trio. It reaches actors by message and storage by cursor.

From actors it never imports sources, recorder, matcher, jail or content, and of delivery only the arithmetic of times.
It may import supervision and storage. Start with `app.py` (the path of
every request), then `nouns/sources.py` (a typical noun), then `streams/` (live streams). The supervision tree starts
`server/`.
"""
