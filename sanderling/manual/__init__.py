"""The manual inside the program: `sanderling help`, the man page, and generated pages.

`pages.py` finds the pages of `docs/` and renders them for a terminal.
`references.py` generates the pages on commands, API and settings; `shell.py` makes the man page and the completion.
`docs/site/build.py` makes the site from the same pages. May import the table of commands and the API's description,
nothing that runs.
"""

VARIABLE = "_SANDERLING_COMPLETE"
"""The variable that Click reads to complete a command line of this program."""
