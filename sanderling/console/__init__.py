"""`sanderling console`: the running service on the whole terminal, over the admin API.

A process of its own: Textual runs on asyncio, and nothing in the service imports this. It may import the command line's
parts (`sanderling.client.api`, `sanderling.exits`), Textual, and nothing of the service. What is shown is decided by
pure modules: `figures`, `rows` and the `*_lines` draw lines with `text` and `words`; `book` keeps the rows it read. The
effects are in `link` (the connection), the widgets of `lines`, and the screens. Start with `tree_screen.py`.
"""
