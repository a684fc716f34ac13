"""The first steps: change a practice page, see its event, then use it elsewhere. All forms return to one page."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.errors import TooSoon
from actors.language.sentences import translated
from actors.language.speaking import say
from actors.practice import PracticeKind, kind_of_url
from api.dashboard.drawing import DifferenceLine, LinePiece, lines_of
from api.dashboard.events import changed_in, curl, item_of, items_of
from api.dashboard.forms import Form
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, buttons, post
from api.nouns import keys
from api.nouns.why import event_why
from extras.practice import operations as practice
from sanderling_client.verify import check_encoded
from storage.records.event import Event, Stored

PRACTICE_SHOWN, LINES = 6, 12
_event = msgspec.json.Decoder(Event).decode


async def show(visit: Visit) -> Page:
    views = await practice.practice(visit)
    newest = await practice.latest(visit, views, PRACTICE_SHOWN)
    bins = await practice.attached_bins(visit) if views else ()
    source = views[0].source.id if views else ""
    return Page(
        "first_steps/page.html",
        say("First steps"),
        {
            "documents": [{"what": kind_of_url(view.source.url), "view": view} for view in views],
            "noticed": await _noticed(visit, newest[0]) if newest else None,
            "earlier": await items_of(visit, newest[1:]),
            "bin": bins[-1] if bins else None,
            "curl": curl(visit, f"/v1/stream?source={source}", "-N") if source else "",
            "tail": visit.context.world.typed("tail", folder=True),
        },
    )


async def _noticed(visit: Visit, stored: Stored) -> dict[str, Any]:
    event = _event(stored.body)
    verdict = check_encoded(stored.body, await visit.context.jwks())
    why = await event_why(visit, event.id, named=True)
    lines = lines_of(changed_in(event), LINES) or [DifferenceLine("+", (LinePiece(event.title),))]
    return {"event": event, "headline": item_of(stored.body).title, "lines": lines, "verdict": verdict, "why": why.says}


PATH = "/first-steps"


class DocumentChangeForm(Form, frozen=True):
    """The document to change."""

    what: PracticeKind = "page"


async def change(visit: Visit) -> Reply:
    """Change a document; the next page shows its event. A second press at once changes nothing, but shows it."""
    try:
        done, stored = await practice.change_and_wait(visit, visit.form.what)
    except TooSoon as error:
        await practice.wait_checked(visit, visit.form.what, error.retry_after)
        return Go(f"{PATH}#noticed", say("Nothing changed: %(reason)s.", reason=translated(error.detail)), bad=True)
    if stored is None:
        late = say("Its event has not arrived yet. Reload this page in a moment.")
        return Go(PATH, f"{translated(done.says)} {late}", bad=True)
    return Go(f"{PATH}#noticed", translated(done.says))


async def make_key(visit: Visit) -> Reply:
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
    bin, _made = await practice.attach_bin(visit)
    if await practice.wait_delivery(visit, bin):
        return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed, and this is the delivery of it."))
    return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed; its delivery is on the way."))


async def end(visit: Visit) -> Reply:
    await practice.end(visit)
    return Go(PATH, say("Practice ended. Its sources, alert and test inbox are deleted. Its events stay in the log."))


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=show),
    post(f"{PATH}/change", change, DocumentChangeForm, show),
    *buttons(PATH, show, key=make_key, wire=wire, end=end),
)
