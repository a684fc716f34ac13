"""The demo's built-in material, used if the shared folder of real feeds and pages is absent.

A feed of twelve notes, six versions of one page (the first two differ only by their clock, which is no change), and the
frames of a WebSocket. Written for this project; `origin.py` reads it with importlib.resources.
"""
