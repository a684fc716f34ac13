"""The manual inside the program: `sanderling help`, the man page, and generated pages.

`pages.py` finds the pages of `docs/`, `layout.py` renders Markdown for a terminal (pure), `command.py` shows them.
`references.py` generates the pages on commands and API. `man.py` and `completion.py` are for the shell.
`docs/site/build.py` makes the site from the same pages. May import the table of commands and the API's description,
nothing that runs.
"""
