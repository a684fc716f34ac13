"""The dashboard in a real Chromium, against a service in another process. The tests are synchronous.

`conftest.py` has the fixtures, `tab.py` the actions of a user and the problems that fail a test, `service.py` and
`origin.py` the two servers, `world.py` their contents. No Trio here: the browser's driver runs its own loop.
"""
