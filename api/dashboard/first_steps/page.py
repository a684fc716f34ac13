"""The page: the last change, its event with difference and checked signature, and the reason."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from actors.messages.views import SourceView
from actors.practice import named
from actors.signatures.event import verify
from actors.signatures.verdict import Verdict
from api.dashboard.difference import Line, Piece, lines_of
from api.dashboard.events import changed_in, curl
from api.dashboard.items import items_of
from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Visit
from api.operations import practice
from api.operations.why import event_why
from storage.records.event import Event, Stored

SHOWN, LINES = 6, 12
_event = msgspec.json.Decoder(Event).decode


class Noticed(NamedTuple):
    """The newest practice event, in full. why: a sentence or two."""

    event: Event
    lines: list[Line]
    verdict: Verdict
    why: str


class Document(NamedTuple):
    """A practice document and its number of changes."""

    what: str
    view: SourceView


async def show(visit: Visit) -> Page:
    views = await practice.practice(visit)
    newest = await practice.latest(visit, views, SHOWN)
    bins = await practice.wired(visit) if views else ()
    source = views[0].source.id if views else ""
    return Page(
        "first_steps/page.html",
        say("First steps"),
        {
            "documents": [Document(named(view.source.url), view) for view in views],
            "noticed": await _noticed(visit, newest[0]) if newest else None,
            "earlier": await items_of(visit, newest[1:]),
            "bin": bins[-1] if bins else None,
            "curl": curl(visit, f"/v1/stream?source={source}", "-N") if source else "",
            "tail": visit.context.world.typed("tail", folder=True),
        },
    )


async def _noticed(visit: Visit, stored: Stored) -> Noticed:
    event = _event(stored.body)
    verdict = verify(stored.body, await visit.context.jwks())
    why = await event_why(visit, event.id, named=True)
    return Noticed(event, lines_of(changed_in(event), LINES) or [Line("+", (Piece(event.title),))], verdict, why.says)
