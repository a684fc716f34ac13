"""Publications in words: what of the log one shows."""

from __future__ import annotations

from api.dashboard.screen import Visit
from api.dashboard.sources.words import shown_as
from storage.records.identity import SourceId
from storage.records.publication import Publication

NAMED = 3
"""Sources and alerts that are named; the others are counted."""


async def about(visit: Visit, publication: Publication) -> str:
    """Return what a publication shows, as the beginning of a sentence."""
    storage = visit.context.storage
    parts = []
    if publication.alert_ids:
        names = {alert.id: alert.name for alert in await storage.alerts.all()}
        parts.append(f"what {_joined([names.get(id, 'a deleted alert') for id in publication.alert_ids])} matches")
    if publication.channel:
        parts.append(f"what the channel {publication.channel} carries")
    if publication.source_ids:
        names_of = []
        for id in publication.source_ids[:NAMED]:
            watched = await storage.sources.get(SourceId(id))
            names_of.append(
                "a deleted source" if watched is None else shown_as(watched.source.name, watched.source.url)
            )
        names_of += publication.source_ids[NAMED:]
        parts.append(f"from {_joined(names_of)}")
    if publication.tags:
        parts.append(f"tagged {_joined(list(publication.tags))}")
    said = ", ".join(parts) or "everything that sources tell"
    return said[0].upper() + said[1:]


def _joined(names: list[str]) -> str:
    """Return names as a list of a sentence."""
    more = len(names) - NAMED
    shown = [*names[:NAMED], f"{more} more"] if more > 0 else names
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
