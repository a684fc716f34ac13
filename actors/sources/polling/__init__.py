"""Sources that are asked again and again: feeds and pages.

`actor.py` is a source's life, `feed.py` and `page.py` read a body, the rest is what feeds and pages remember.
"""
