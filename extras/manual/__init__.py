"""The manual inside the program: `sanderling help`, and generated pages.

`pages.py` finds the pages of `docs/` and renders them for a terminal. `references.py` generates the pages on commands
and API; `make man` makes the man page of the same table. `docs/site/build.py` makes the site from the same pages. No
setting switches it on: its command runs when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.manual.pages", "help_page"))
