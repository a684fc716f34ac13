"""Push sources: WebSockets, Server-Sent Events and JSON lines.

`actor.py` is a source's life and writes drafts to the log, `connection.py` the effect of a connection on its memory,
`frames.py` turns frames into drafts.
"""
