"""The reading of bodies: whether one is a feed or a page, its entries or blocks, and the news in it.

All of it is pure: bytes in, frozen records out, no clock, no chance, no file, no socket. It runs on hostile bytes
inside a disposable worker (`actors/jail`), which bounds time and memory; here sizes are capped, and whatever a parser
throws leaves as `ContentError`. May import `storage.records`, `actors.previews` and parsers only. Start with `tasks.py`
(what the worker runs), then `detection.py`, `feeds/feeds.py`, `pages/page.py` and `changes/churn.py`, the decision
whether a page has really changed.
"""
