"""The description of a publication: the events that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from api.dashboard.language.speaking import say
from api.dashboard.screen import Visit
from api.dashboard.sources.words import shown_as
from storage.records.identity import SourceId
from storage.records.publication import Publication

NAMED = 3
"""Sources and alerts to name; the rest are counted."""


async def about(visit: Visit, publication: Publication) -> str:
    """Return a publication's content as a sentence without its full stop."""
    storage = visit.context.storage
    said = say("Events")
    if publication.alert_ids:
        names = {alert.id: alert.name for alert in await storage.alerts.all()}
        alerts = _joined([names.get(id, say("a deleted alert")) for id in publication.alert_ids])
        said = say("What %(names)s matches", names=alerts)
    elif publication.channel:
        said = say("What the channel %(name)s carries", name=publication.channel)
    elif not (publication.source_ids or publication.tags):
        return say("Everything that sources tell")
    if publication.source_ids:
        called = [await _called(visit, id) for id in publication.source_ids[:NAMED]]
        sources = _joined([*called, *publication.source_ids[NAMED:]])
        said = say("%(what)s from %(names)s", what=said, names=sources)
    if publication.tags:
        said = say("%(what)s tagged %(names)s", what=said, names=_joined(publication.tags))
    return said


async def _called(visit: Visit, id: str) -> str:
    watched = await visit.context.storage.sources.get(SourceId(id))
    return say("a deleted source") if watched is None else shown_as(watched.source.name, watched.source.url)


def _joined(names: Sequence[str]) -> str:
    """Join names into a list within a sentence."""
    more = len(names) - NAMED
    shown = [*names[:NAMED], say("%(count)s more", count=more)] if more > 0 else names
    if len(shown) == 1:
        return shown[0]
    return say("%(names)s or %(last)s", names=", ".join(shown[:-1]), last=shown[-1])
