"""Events for readers without a key: publications as feeds and pages at secret addresses, and a hub (WebSub) for them.

`operations.py` makes and changes publications, for `routes.py`, `screens.py` and `commands.py`. `endpoint.py` serves
readers before Quart, without session, cookie or route: feed readers poll every few minutes, mostly for unchanged
content. `hub.py` posts new events to subscribers. `formats.py` writes Atom, RSS and JSON Feed. No setting switches it:
the service imports it when it starts, and without publications it costs an idle actor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    import click

    from actors.app_context import AppContext
    from api.application import Application, Endpoint
    from api.dashboard.screen import Screen
    from api.route import Route
    from supervision import ChildSpec


def _commands() -> Sequence[click.Command]:
    from extras.publish.commands import publications

    return (publications,)


def _routes() -> Mapping[str, Sequence[Route]]:
    from extras.publish.routes import ROUTES

    return {"publications": ROUTES}


def _screens() -> Sequence[Screen]:
    from extras.publish.screens import SCREENS

    return SCREENS


def _endpoints(application: Application) -> Sequence[Endpoint]:
    from api.application import Endpoint
    from extras.publish.endpoint import PublicationEndpoint, is_published
    from extras.publish.hub_endpoint import HubEndpoint, is_for_the_hub

    hub, publications = HubEndpoint(application), PublicationEndpoint(application)
    return Endpoint(is_for_the_hub, hub), Endpoint(is_published, publications)


def _children(context: AppContext) -> Sequence[ChildSpec]:
    from extras.publish.hub import Hub
    from extras.publish.turns import mailbox_of
    from supervision import ChildSpec

    return (ChildSpec("hub", run=Hub(context).run, ready_within=30.0, mailbox=mailbox_of(context)),)


EXTRA = Extra(
    commands=_commands,
    routes=_routes,
    screens=_screens,
    templates=__name__,
    endpoints=_endpoints,
    children=_children,
)
