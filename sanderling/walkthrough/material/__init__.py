"""The demo's own material, for when the shared folder of real feeds and pages is not there.

A feed of twelve notes, six looks at one page (the first two differ by their clock alone, which is no change), and the
frames of a WebSocket. Written for this project; read by `sanderling/walkthrough/origin.py` through importlib.resources.
"""
