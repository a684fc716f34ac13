"""One publication: its addresses and content, a new address, deletion."""

from __future__ import annotations

from functools import partial

from actors.feed_documents.formats import FORMATS
from api.dashboard.confirming import Deletion, check_confirmed
from api.dashboard.forms import Confirm
from api.dashboard.language.speaking import say
from api.dashboard.publications.words import about
from api.dashboard.screen import Go, Page, Visit
from api.operations import publications as acts
from api.schemas import publications as wire


class Readdress(Confirm, frozen=True):
    """A publication that gets a new address."""


async def show(visit: Visit) -> Page:
    publication = await acts.named(visit, visit.path["id"])
    url = acts.address(visit, publication)
    feeds = [] if url is None else [(each.label, f"{url}.{ending}") for ending, each in FORMATS.items()]
    subscribers = await visit.context.storage.subscriptions.count(publication.id)
    alerts = await visit.context.storage.alerts.all()
    shows = {
        "private": await acts.private_sources(visit, publication.scope, partial(publication.has_left, alerts=alerts)),
        "publication": publication,
        "about": await about(visit, publication),
        "url": url,
        "feeds": feeds,
        "subscribers": subscribers,
    }
    return Page("publications/one.html", publication.title, shows)


async def readdress(visit: Visit) -> Go:
    form: Readdress = visit.form
    form.check("new address", say("new address"))
    changed = await acts.readdress(visit, visit.path["id"])
    return Go(f"/publications/{changed.id}", say("It has another address; the old ones answer 404."))


async def seen(visit: Visit) -> Go:
    """Leave out the sources that have become private, and say so no more."""
    publication = await acts.change(visit, visit.path["id"], wire.PublicationPatch(), seen=True)
    return Go(f"/publications/{publication.id}", say("They stay left out."))


async def delete(visit: Visit) -> Go:
    form: Deletion = visit.form
    check_confirmed(form)
    await acts.delete(visit, visit.path["id"])
    return Go("/publications", say("The publication is deleted; its addresses answer 404."))
