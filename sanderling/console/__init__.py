"""`sanderling console`: the running service as a full-screen terminal application, over the admin API.

A separate process: Textual runs on asyncio, and nothing in the service imports this. It may import the command line's
parts (`sanderling.client.api`, `sanderling.exits`) and Textual, nothing of the service. Pure modules decide the
content: `figures` and `rows` keep it, `text` draws it. Effects are in `view` (the connection, and the base of all
screens) and the widgets of `lines`. Start with `tree.py`.
"""
