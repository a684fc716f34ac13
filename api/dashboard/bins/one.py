"""One bin: its address, senders and captures; attach it to an alert, send a sample, delete it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from actors.errors import NotFound
from api.dashboard.bins.words import badge, behind, title
from api.dashboard.destinations.standing import MODES
from api.dashboard.forms import Confirm, Form
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Page, Reply, Secret, Visit
from api.operations import alerts, destinations
from api.operations import bins as acts
from api.schemas.alerts import NewDestination
from storage.records.bin import Bin

PAGE = 20
MOST_ALERTS = 500
"""Alerts to choose from."""


class CapturesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The start of the page: captures before this number."""

    before: Annotated[int, Meta(ge=1)] | None = None


class Attach(Form, frozen=True):
    """The alert whose matches go to the bin."""

    alert: str


class Deletion(Confirm, frozen=True):
    """A bin to delete."""


async def show(visit: Visit) -> Page:
    bin = await acts.named(visit, visit.path["id"])
    seen, more = await acts.captures(visit, bin, visit.query.before, PAGE)
    rows = [
        (each, title(each.capture), behind(each.capture)[:80], badge(each.check.hmac), badge(each.check.ed25519))
        for each in seen
    ]
    names = {alert.id: alert.name for alert in await visit.context.storage.alerts.all()}
    feeding = await acts.feeding(visit, bin)
    here = {each.alert_id for each in feeding}
    return Page(
        "bins/one.html",
        say("Webhook bin"),
        {
            "bin": bin,
            "address": acts.bins_of(visit).address(bin),
            "rows": rows,
            "modes": MODES,
            "older": f"/webhook-bins/{bin.id}?before={seen[-1].number}" if more else "",
            "newest": "" if visit.query.before is None else f"/webhook-bins/{bin.id}",
            "feeding": [(each, names.get(each.alert_id, "")) for each in feeding],
            "alerts": [(id, name) for id, name in names.items() if id not in here][:MOST_ALERTS],
        },
    )


async def attach(visit: Visit) -> Reply:
    """Deliver an alert's matches to the bin."""
    bin = await acts.named(visit, visit.path["id"])
    new = NewDestination(url=acts.bins_of(visit).address(bin), label="webhook bin")
    made = await destinations.add(visit, visit.form.alert, new)
    name = (await alerts.named(visit, visit.form.alert)).name
    says = say("The bin checks deliveries with it by itself; a receiver of your own would need it.")
    secret = Secret(say("Signing secret"), made.secret, says)
    return Go(_page(bin), say("The matches of %(name)s come here now.", name=name), secret=secret)


async def test(visit: Visit) -> Reply:
    """Send a sample from the newest destination that delivers here."""
    bin = await acts.named(visit, visit.path["id"])
    feeding = await acts.feeding(visit, bin)
    if not feeding:
        raise NotFound(say("No destination delivers to this bin yet."))
    found = await destinations.test(visit, feeding[-1].id)
    if found.result == "sent":
        return Go(_page(bin), say("A sample was delivered in %(count)s ms.", count=found.latency_ms))
    says = say("The sample was not delivered: %(reason)s", reason=translated(found.detail or ""))
    return Go(_page(bin), says, bad=True)


async def delete(visit: Visit) -> Reply:
    visit.form.check("delete", say("delete"))
    await acts.delete(visit, visit.path["id"])
    return Go("/webhook-bins", say("The bin is deleted, with what it was sent."))


def _page(bin: Bin) -> str:
    return f"/webhook-bins/{bin.id}"
