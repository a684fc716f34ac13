"""The set of sources: one actor with one mailbox (`actor.py`), and the handlers of its messages.

Requests that memory can answer are answered in turn; the rest waits in lanes for storage or the network.
`service.py` adds, edits and deletes, `previewer.py` makes previews, `practice.py` manages practice sources.
"""
