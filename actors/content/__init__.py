"""Reading of bodies: whether one is a feed or a page, its entries or blocks, and the changes in it.

All of it is pure: bytes in, frozen records out, no clock, chance, file or socket. It runs on hostile bytes in a
disposable worker (`actors/jail`), which bounds time and memory. This package caps sizes and turns parser errors into
`ContentError`. May import `storage.records`, `actors.messages.requests` and parsers only. Start with `tasks.py` (the
worker's tasks), then `detection.py`, `feeds.py`, `pages/page.py` and `changes/churn.py`, which decides whether a page
has really changed.
"""
