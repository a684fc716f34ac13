"""Publications: the list, the form, and one with its addresses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, Struct

from actors.language.speaking import say
from actors.messages.declaring import Declared, made_of, mirrored, part_of
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.lists import PageQuery, numbered
from api.dashboard.picker import picker, private_choices, sources_of
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.dashboard.sources.display import name_of
from api.dashboard.sources.one import words_in
from api.fields.publications import NewPublication
from api.nouns.sources import private_sources
from api.nouns.streams import CHANNELS
from extras.publish import operations as acts
from extras.publish.formats import FORMATS
from extras.publish.hub import Subscriptions
from storage.records.alert import Alert
from storage.records.identity import rfc3339
from storage.records.publication import Publication
from storage.records.revision import revision_of

NAMED = 3  # sources and alerts to name; the rest are counted


async def about(visit: Visit, publication: Publication) -> str:
    """Return a publication's content as a sentence without its full stop."""
    storage = visit.context.storage
    said = say("Events")
    if publication.alert_ids:
        names = {alert.id: alert.name for alert in await storage.alerts.all()}
        alerts = _joined([names.get(id, say("a deleted alert")) for id in publication.alert_ids])
        said = say("Matches of %(names)s", names=alerts)
    elif publication.channel:
        said = say("Events on the channel %(name)s", name=publication.channel)
    elif not (publication.source_ids or publication.tags):
        return say("All events of all public sources")
    if publication.source_ids:
        there: dict[str, str] = {
            one.id: name_of(one) for one in await sources_of(visit, publication.source_ids[:NAMED])
        }
        sources = _joined([there.get(id, say("a deleted source")) for id in publication.source_ids])
        said = say("%(what)s from %(names)s", what=said, names=sources)
    if publication.tags:
        said = say("%(what)s tagged %(names)s", what=said, names=_joined(publication.tags))
    return said


def _joined(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    shown = [*names[:NAMED], say("%(count)s more", count=more)] if more > 0 else names
    if len(shown) == 1:
        return shown[0]
    return say("%(names)s or %(last)s", names=", ".join(shown[:-1]), last=shown[-1])


@part_of(NewPublication, ("title", "channel", "alert_ids", "source_ids", "private_source_ids", "ends_on"))
class PublicationForm(Form, Declared, frozen=True, kw_only=True):
    """The fields of a publication. tags: separated by commas. find: words to search sources by."""

    tags: str = ""
    find: str = ""


class PublicationEdit(PublicationForm, frozen=True, kw_only=True):
    """A change of a publication, from the revision that was shown."""

    revision: str = ""


def _typed(form: PublicationForm) -> dict[str, Any]:
    return mirrored(form, NewPublication) | {"tags": tuple(dict.fromkeys(words_in(form.tags)))}


PAGE = 25


async def show_all(visit: Visit) -> Page:
    shown, pager = numbered(await acts.every(visit), visit.query.page, PAGE, "/publications")
    rows = [
        {
            "publication": each,
            "about": await about(visit, each),
            "url": acts.address(visit, each),
            "ended": each.has_ended(visit.now),
        }
        for each in shown
    ]
    return Page("publications/list.html", say("Publications"), {"rows": rows, **pager})


MOST_ALERTS = 500  # alerts to choose from
_Some = Annotated[tuple[str, ...], Meta(max_length=50)]


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill."""

    source: _Some = ()
    alert: _Some = ()
    tag: _Some = ()
    channel: Annotated[str, Meta(max_length=200)] = ""


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    start = made_of(
        PublicationForm,
        title=await _title(visit, query),
        tags=", ".join(query.tag),
        channel=query.channel or None,
        alert_ids=query.alert,
        source_ids=query.source,
    )
    return await _page(visit, start)


async def create(visit: Visit) -> Go:
    if (visit.form.ends_on or "9999") < rfc3339(visit.now)[:10]:
        raise InvalidForm(ends_on=say("This day has passed."))
    made = await acts.add(visit, NewPublication(**_typed(visit.form)))
    return Go(f"/publications/{made.id}", say("Published. Share its address."))


async def edit(visit: Visit) -> Page:
    publication = await acts.named(visit, visit.path["id"])
    form = made_of(PublicationEdit, publication, tags=", ".join(publication.tags), revision=revision_of(publication))
    return await _page(visit, form, publication)


async def change(visit: Visit) -> Go:
    form: PublicationEdit = visit.form
    changed = await acts.change(visit, visit.path["id"], _typed(form), frozenset((form.revision,)), seen=True)
    return Go(f"/publications/{changed.id}", say("Saved. Its addresses stay as they are."))


async def _page(visit: Visit, form: PublicationForm, publication: Publication | None = None) -> Page:
    draft = visit.draft
    chosen = draft.texts("source_ids", form.source_ids)
    alerts = await visit.context.storage.alerts.all()
    shows: dict[str, Any] = {
        "form": form,
        "publication": publication,
        "picker": await picker(visit, chosen, draft.value("find")),
        "chosen": chosen,
        "alerts": [(each.id, each.name, "") for each in alerts[:MOST_ALERTS]],
        "channels": [("", say("Any")), *_channels(visit, form, alerts)],
        "private": await private_choices(visit, form.private_source_ids),
    }
    title = say("Edit %(name)s", name=publication.title) if publication else say("New publication")
    return Page("publications/form.html", title, shows)


def _channels(visit: Visit, form: PublicationForm, alerts: Sequence[Alert]) -> list[tuple[str, str]]:
    channels = [(name, name) for name in CHANNELS if name != "heartbeats"]
    channels += [(each.id, say("%(name)s (template)", name=each.id)) for each in visit.context.templates.catalogue]
    channels += [
        (name, say("%(name)s (of alerts)", name=name))
        for name in sorted({each.channel for each in alerts if each.channel})
    ]
    if form.channel and form.channel not in dict(channels):
        channels.append((form.channel, form.channel))
    return channels


async def _title(visit: Visit, query: NewQuery) -> str:
    """Suggest a title for a link's selection, or ""."""
    if len(query.source) == 1:
        return "".join(map(name_of, await sources_of(visit, query.source)))[:200]
    if len(query.alert) == 1:
        alert = await visit.context.storage.alerts.get(query.alert[0])
        return "" if alert is None else alert.name[:200]
    return ", ".join(tag.removeprefix("label:") for tag in query.tag)[:200]


async def show(visit: Visit) -> Page:
    publication = await acts.named(visit, visit.path["id"])
    url = acts.address(visit, publication)
    feeds = [] if url is None else [(each.label, f"{url}.{ending}") for ending, each in FORMATS.items()]
    subscribers = await Subscriptions(visit.context.storage).count(publication.id)
    alerts = await visit.context.storage.alerts.all()
    shows = {
        "private": await private_sources(visit, publication.scope, partial(publication.has_left, alerts=alerts)),
        "publication": publication,
        "about": await about(visit, publication),
        "url": url,
        "ended": publication.has_ended(visit.now),
        "feeds": feeds,
        "subscribers": subscribers,
    }
    return Page("publications/one.html", publication.title, shows)


async def readdress(visit: Visit) -> Go:
    visit.form.check("new address", say("new address"))
    changed = await acts.readdress(visit, visit.path["id"])
    return Go(f"/publications/{changed.id}", say("It has another address; the old ones answer 404."))


async def seen(visit: Visit) -> Go:
    """Leave out the sources that have become private, and hide the note about them."""
    publication = await acts.change(visit, visit.path["id"], {}, seen=True)
    return Go(f"/publications/{publication.id}", say("They stay left out."))


async def delete(visit: Visit) -> Go:
    visit.form.check_deletion()
    await acts.delete(visit, visit.path["id"])
    return Go("/publications", say("The publication is deleted; its addresses answer 404."))


_ONE = "/publications/{id}"

SCREENS: tuple[Screen, ...] = (
    Screen(path="/publications", run=show_all, query=PageQuery),
    Screen(path="/publications/new", run=new, query=NewQuery),
    post("/publications/new", create, PublicationForm, new),
    Screen(path=_ONE, run=show),
    Screen(path=f"{_ONE}/edit", run=edit),
    post(f"{_ONE}/edit", change, PublicationEdit, edit),
    post(f"{_ONE}/address", readdress, Confirm, show),
    post(f"{_ONE}/seen", seen, Form, show),
    post(f"{_ONE}/delete", delete, Confirm, show),
)
