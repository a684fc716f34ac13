"""The dashboard in a real browser, against a service in a process of its own. Everything here is plain, synchronous code.

`conftest.py` has the fixtures; `tab.py` is what a person does, and what must never happen while they do it; `service.py`
and `origin.py` are what stands behind the page. No Trio in this process: the browser's driver has a loop of its own.
"""
