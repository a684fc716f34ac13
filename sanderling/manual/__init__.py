"""The manual inside the program: `sanderling help`, the man page, and the pages that are generated.

`pages.py` finds the pages of `docs/` beside the packages, `layout.py` sets Markdown for a terminal (pure), `command.py`
shows them. `references.py` writes the pages that come from the program itself: its commands and its API. `man.py`
and `completion.py` are about the shell. The site is made of the same pages, by `docs/site/build.py`.

It may import the table of commands and the API's description, and nothing that runs.
"""
