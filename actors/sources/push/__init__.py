"""Push sources: WebSockets, Server-Sent Events and JSON lines.

`actor.py` is a source's life, `connection.py` the effect of a connection on its memory, `frames.py` turns frames into
drafts, `committer.py` writes drafts to the log.
"""
