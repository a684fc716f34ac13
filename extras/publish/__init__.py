"""Events for readers without a key: publications as feeds and pages at secret addresses, and a hub (WebSub) for them.

`operations.py` makes and changes publications, and has their routes, for `screens.py` and `commands.py`. `endpoint.py`
serves readers before Quart, without session, cookie or route: feed readers poll every few minutes, mostly for
unchanged content. `hub.py` posts new events to subscribers. `formats.py` writes Atom, RSS and JSON Feed. No setting
switches it: the service imports it when it starts, and without publications it costs an idle actor.
"""

from __future__ import annotations

from actors.extras import Extra, calling, member, members

EXTRA = Extra(
    commands=members("extras.publish.commands", "publications"),
    routes=lambda: {"publications": member("extras.publish.operations", "ROUTES")()},
    screens=member("extras.publish.screens", "SCREENS"),
    templates=__name__,
    endpoints=calling("extras.publish.hub", "endpoints"),
    children=calling("extras.publish.hub", "children"),
)
