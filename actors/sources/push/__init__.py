"""Sources that speak by themselves: WebSockets, Server-Sent Events and JSON lines.

`actor.py` is a source's life, `connection.py` what a connection does to its memory, `frames.py` the way from frames to
drafts, `committer.py` the way from drafts to the log.
"""
