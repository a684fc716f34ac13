"""The practice page and feed: a newcomer changes them with a button to see the service notice.

All of it is pure: a document is a function of its step, the number of changes made so far. Imports nothing of ours.
Start with `page.py`. The way from a step to a check, an event and a signature is that of every other source, from
`actors/sources/registry/practice.py` on.
"""
