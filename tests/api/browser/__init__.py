"""The dashboard in a real browser, against a service in a process of its own. All of it is plain, synchronous code.

`conftest.py` has the fixtures; `tab.py` is what a person does, and what must never happen meanwhile; `service.py` and
`origin.py` are what stands behind the page, `world.py` fills it. No Trio here: the browser's driver has its own loop.
"""
