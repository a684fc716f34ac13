"""Publications in words: what of the log one shows."""

from __future__ import annotations

from collections.abc import Sequence

from api.dashboard.screen import Visit
from api.dashboard.sources.words import shown_as
from storage.records.identity import SourceId
from storage.records.publication import Publication

NAMED = 3
"""Sources and alerts that are named; the others are counted."""


async def about(visit: Visit, publication: Publication) -> str:
    """Return what a publication shows, as a sentence without its full stop."""
    storage = visit.context.storage
    said = "Events"
    if publication.alert_ids:
        names = {alert.id: alert.name for alert in await storage.alerts.all()}
        said = f"What {_joined([names.get(id, 'a deleted alert') for id in publication.alert_ids])} matches"
    elif publication.channel:
        said = f"What the channel {publication.channel} carries"
    elif not (publication.source_ids or publication.tags):
        return "Everything that sources tell"
    if publication.source_ids:
        called = [await _called(visit, id) for id in publication.source_ids[:NAMED]]
        said += f" from {_joined([*called, *publication.source_ids[NAMED:]])}"
    if publication.tags:
        said += f" tagged {_joined(publication.tags)}"
    return said


async def _called(visit: Visit, id: str) -> str:
    watched = await visit.context.storage.sources.get(SourceId(id))
    return "a deleted source" if watched is None else shown_as(watched.source.name, watched.source.url)


def _joined(names: Sequence[str]) -> str:
    """Return names as a list of a sentence."""
    more = len(names) - NAMED
    shown = [*names[:NAMED], f"{more} more"] if more > 0 else names
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
