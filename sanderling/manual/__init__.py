"""The manual inside the program: `sanderling help`, and generated pages.

`pages.py` finds the pages of `docs/` and renders them for a terminal.
`references.py` generates the pages on commands, API and settings; `make man` makes the man page.
`docs/site/build.py` makes the site from the same pages. May import the table of commands and the API's description,
nothing that runs.
"""
