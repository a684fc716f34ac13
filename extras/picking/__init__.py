"""Choosing the watched part of a page by its blocks: the pages of the dashboard, and `POST /v1/sources/blocks`.

`picker.py` makes the list in a worker: a page's blocks with their kinds and values, and the selector for the pressed
one. `reaching.py` knows the element of each block and the reach of a choice, `deriving.py` makes HTML selectors of the
names that last, `in_documents.py` does so for other documents. `operations.py` fetches the page for the faces,
`routes.py` and `screens.py`. Without it, a source's `selector` is typed. No setting switches it: the service and each
worker import it at the start.
"""

from __future__ import annotations

from actors.extras import Extra, member

EXTRA = Extra(
    routes=lambda: {"watching": member("extras.picking.routes", "ROUTES")()},
    screens=member("extras.picking.screens", "SCREENS"),
    templates=__name__,
    tasks=member("extras.picking.picker", "TASKS"),
)
