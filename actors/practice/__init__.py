"""The practice page and feed: what a newcomer changes at the press of a button, to see the service notice.

All of it is pure: a document is a function of its step, the number of times that it was changed. Imports nothing of
ours. Start with `page.py`. How a step becomes a look, an event and a signature is not here: it goes the way of every
other source, from `actors/sources/registry/practice.py` on.
"""
