"""First steps: preview any URL, change a practice page and see its event, then use it elsewhere.

All forms return to one page; Today shows its beginning to users without sources.
"""

from __future__ import annotations

from typing import Any

import msgspec

from actors.errors import TooSoon
from actors.language.sentences import translated
from actors.language.speaking import say
from actors.practice import What, named
from actors.signatures.event import verify
from api.dashboard.drawing.difference import Line, Piece, lines_of
from api.dashboard.events import changed_in, curl, item_of, items_of
from api.dashboard.forms import Form
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, buttons, post
from api.nouns import keys, practice
from api.nouns.why import event_why
from storage.records.event import Event, Stored

SHOWN, LINES = 6, 12
_event = msgspec.json.Decoder(Event).decode


async def show(visit: Visit) -> Page:
    views = await practice.practice(visit)
    newest = await practice.latest(visit, views, SHOWN)
    bins = await practice.wired(visit) if views else ()
    source = views[0].source.id if views else ""
    return Page(
        "first_steps/page.html",
        say("First steps"),
        {
            "documents": [{"what": named(view.source.url), "view": view} for view in views],
            "noticed": await _noticed(visit, newest[0]) if newest else None,
            "earlier": await items_of(visit, newest[1:]),
            "bin": bins[-1] if bins else None,
            "curl": curl(visit, f"/v1/stream?source={source}", "-N") if source else "",
            "tail": visit.context.world.typed("tail", folder=True),
        },
    )


async def _noticed(visit: Visit, stored: Stored) -> dict[str, Any]:
    """Return the newest practice event, in full."""
    event = _event(stored.body)
    verdict = verify(stored.body, await visit.context.jwks())
    why = await event_why(visit, event.id, named=True)
    lines = lines_of(changed_in(event), LINES) or [Line("+", (Piece(event.title),))]
    said = item_of(stored.body).title
    return {"event": event, "headline": said, "lines": lines, "verdict": verdict, "why": why.says}


PATH = "/first-steps"


class Change(Form, frozen=True):
    """The document to change."""

    what: What = "page"


async def change(visit: Visit) -> Reply:
    """Change a document; the next page shows its event. A second press at once changes nothing, but shows it."""
    try:
        done, stored = await practice.changed(visit, visit.form.what)
    except TooSoon as error:
        await practice.settled(visit, visit.form.what, error.retry_after)
        return Go(
            f"{PATH}#noticed",
            say("Nothing changed: %(reason)s.", reason=translated(error.detail)),
            bad=True,
        )
    if stored is None:
        late = say("Its event has not arrived yet. Reload this page in a moment.")
        return Go(PATH, f"{translated(done.says)} {late}", bad=True)
    return Go(f"{PATH}#noticed", translated(done.says))


async def make_key(visit: Visit) -> Reply:
    """Make a key that may read streams, and show the command with it, once."""
    views = await practice.practice(visit, start=True)
    plaintext, key = await keys.make(visit, "First steps", ("stream:read",))
    url = f"{visit.context.settings.public_url()}/v1/stream?source={views[0].source.id}"
    command = f"curl -N -H 'Authorization: Bearer {plaintext}' '{url}'"
    says = say(
        "Its key may read events and nothing else; it is %(prefix)s… among the API keys, where it can be deleted.",
        prefix=key.prefix,
    )
    return Go(PATH, secret=Secret(say("Command with a fresh key"), command, says))


async def wire(visit: Visit) -> Reply:
    """Wire a bin to practice, and trigger a delivery."""
    bin, _made = await practice.wire(visit)
    if await practice.delivered(visit, bin):
        return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed, and this is the delivery of it."))
    return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed; its delivery is on the way."))


async def end(visit: Visit) -> Reply:
    await practice.end(visit)
    says = say("Practice ended. Its sources, alert and bin are deleted. Its events stay in the log.")
    return Go(PATH, says)


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=show),
    post(f"{PATH}/change", change, Change, show),
    *buttons(PATH, show, key=make_key, wire=wire, end=end),
)
