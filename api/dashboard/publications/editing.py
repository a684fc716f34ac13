"""The form of a publication: create, change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from actors.errors import Stale
from api.dashboard.forms import Wrong
from api.dashboard.language.speaking import say
from api.dashboard.picker import picker, private_choices
from api.dashboard.publications.form import PublicationEdit, PublicationForm, form_of, new_of, patch_of
from api.dashboard.screen import Go, Page, Visit
from api.dashboard.sources.words import shown_as
from api.operations import publications as acts
from api.operations.streams import CHANNELS
from storage.records.alert import Alert
from storage.records.identity import SourceId
from storage.records.publication import Publication

MOST_ALERTS = 500
"""Alerts to choose from."""
_Some = Annotated[tuple[str, ...], Meta(max_length=50)]


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill."""

    source: _Some = ()
    alert: _Some = ()
    tag: _Some = ()
    channel: Annotated[str, Meta(max_length=200)] = ""


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    start = PublicationForm(
        title=await _title(visit, query),
        tags=", ".join(query.tag),
        channel=query.channel or None,
        alert_ids=query.alert,
        source_ids=query.source,
    )
    return await _page(visit, start)


async def create(visit: Visit) -> Go:
    made = await acts.add(visit, new_of(visit.form))
    return Go(f"/publications/{made.id}", say("It is published. Who knows one of these addresses may read it."))


async def edit(visit: Visit) -> Page:
    publication = await acts.named(visit, visit.path["id"])
    return await _page(visit, form_of(publication), publication)


async def change(visit: Visit) -> Go:
    """Change a publication, unless someone else changed it in the meantime."""
    form: PublicationEdit = visit.form
    try:
        changed = await acts.change(visit, visit.path["id"], patch_of(form), form.expected, seen=True)
    except Stale:
        raise Wrong(say("It has been changed in another place since you opened this form. Open it anew.")) from None
    return Go(f"/publications/{changed.id}", say("Saved. Its addresses stay as they are."))


async def _page(visit: Visit, form: PublicationForm, publication: Publication | None = None) -> Page:
    draft = visit.draft
    given = tuple(each for each in draft.given.get("source_ids", ()) if isinstance(each, str))
    chosen = given if draft.given else form.source_ids
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
    storage = visit.context.storage
    if len(query.source) == 1:
        watched = await storage.sources.get(SourceId(query.source[0]))
        return "" if watched is None else shown_as(watched.source.name, watched.source.url)[:200]
    if len(query.alert) == 1:
        return next((each.name for each in await storage.alerts.all() if each.id == query.alert[0]), "")[:200]
    return ", ".join(tag.removeprefix("label:") for tag in query.tag)[:200]
