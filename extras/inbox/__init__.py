"""The test inbox: webhook bins over the API, in the dashboard and as `sanderling bins`.

A bin is an address of this service that keeps the requests it receives. `endpoint.py` takes those of strangers; the
service's own deliveries arrive through `actors/destination_kinds/bins.py`, which the product has for trials and the
practice. `operations.py` reads captures and checks both signatures, and has the routes, for `screens.py` and
`commands.py`. No setting switches it: the service imports it at the start, and without bins it costs nothing more.
"""

from __future__ import annotations

from actors.extras import Extra, calling, member, members

EXTRA = Extra(
    commands=members("extras.inbox.commands", "bins"),
    routes=lambda: {"bins": member("extras.inbox.operations", "ROUTES")()},
    screens=member("extras.inbox.screens", "SCREENS"),
    templates=__name__,
    endpoints=calling("extras.inbox.endpoint", "endpoints"),
)
