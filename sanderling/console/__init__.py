"""`sanderling console`: the running service as a full-screen terminal application, over the admin API.

A separate process: Textual runs on asyncio, and nothing in the service imports this. It may import the command line's
parts (`sanderling.client.api`, `sanderling.exits`) and Textual, nothing of the service. Pure modules decide the
content: `figures`, `rows` and `*_lines` draw lines with `text` and `words`; `row_cache` keeps fetched rows. Effects are
in `link` (the connection), the widgets of `lines`, and the screens. Start with `tree_screen.py`.
"""
