"""Renaming a tag in all sources that have it, and in the alerts and publications that name it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from actors.errors import NotFound, Stale
from actors.messages.requests import SourcePatch
from actors.selection import SourceSelection
from api.operations import alerts, publications, sources, tag_defaults
from api.operations.batches import Failed
from api.operations.context import OperationContext
from api.operations.tags import tags_in
from api.schemas.alerts import AlertPatch
from api.schemas.publications import PublicationPatch
from storage.records.revision import revision_of
from storage.records.source import OWN_NAMESPACES

MOST = 10_000
"""Sources that one call changes."""
_PAGE = 500


class Renamed(NamedTuple):
    """The counts of renamed records and the failures. more: further sources remain."""

    sources: int
    alerts: int
    publications: int
    failed: Sequence[Failed]
    more: bool = False


def renamed(tags: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    """Return tags with one renamed, and the tags below it too.

    >>> renamed(("label:news", "label:news/se", "label:newspapers"), "label:news", "label:press")
    ('label:press', 'label:press/se', 'label:newspapers')
    """
    below = f"{old}/"
    changed = (new + tag[len(old) :] if tag == old or tag.startswith(below) else tag for tag in tags)
    return tuple(dict.fromkeys(changed))


async def rename(call: OperationContext, old: str, new: str) -> Renamed:
    """Rename a tag and those below it everywhere. Raises Unprocessable.

    Alerts change first and have both names while sources change, so that they cover each source throughout.
    """
    (before,), (after,) = tags_in((old,)), sources.tags_of((new,), "body.tags")
    sources.tags_of((before,), "body.tags")
    told = [alert for alert in await call.context.storage.alerts.all() if _named(alert.tags, before, after)]
    for alert in told:
        both = tuple(dict.fromkeys((*alert.tags, *renamed(alert.tags, before, after))))
        await alerts.change(call, alert.id, AlertPatch(tags=both))
    moved = await _give(call, before, after)
    ids = await _having(call, before)
    outcomes = await sources.each(call, ids[:MOST], lambda call, id: _rename_one(call, id, before, after))
    failed = [one for one in outcomes if isinstance(one, Failed)]
    more = len(ids) > MOST
    if not failed and not more:
        for alert in told:
            await alerts.change(call, alert.id, AlertPatch(tags=renamed(alert.tags, before, after)))
        for tag in moved:
            with suppress(NotFound):  # deleted in the meantime
                await tag_defaults.delete(call, tag)
    published = [one for one in await call.context.storage.publications.all() if _named(one.tags, before, after)]
    for one in published:
        both = tuple(dict.fromkeys((*one.tags, *renamed(one.tags, before, after))))  # its past events have the old name
        await publications.change(call, one.id, PublicationPatch(tags=both))
    return Renamed(len(outcomes) - len(failed), len(told), len(published), failed, more)


async def _give(call: OperationContext, old: str, new: str) -> Sequence[str]:
    """Copy the defaults of a tag and of those below it to the new names, unless these have some.

    Return the old names. Delete their defaults last, so that sources inherit the same under either name.
    """
    kept = await call.context.storage.tag_defaults.all()
    moved = [one.tag for one in kept if _named((one.tag,), old, new)]
    for tag in moved:
        await tag_defaults.give(call, tag, renamed((tag,), old, new)[0])
    return moved


def _named(tags: Sequence[str], old: str, new: str) -> bool:
    return renamed(tags, old, new) != tuple(tags)


async def _having(call: OperationContext, tag: str) -> list[str]:
    """Return the ids of the sources with a tag or one below it; at most `MOST` + 1."""
    where, found = SourceSelection(tags=(f"{tag}/*",)), list[str]()
    page = await sources.page(call, _PAGE, None, where)
    while True:
        found += (view.source.id for view in page.views)
        if page.next_after is None or len(found) > MOST:
            return found[: MOST + 1]
        page = await sources.page(call, _PAGE, page.next_after, where)


async def _rename_one(call: OperationContext, id: str, old: str, new: str) -> None:
    for last in (False, False, True):
        found = (await sources.view(call, id)).source
        theirs = [tag for tag in found.tags if tag.partition(":")[0] not in OWN_NAMESPACES]
        try:
            wish = SourcePatch(tags=renamed(theirs, old, new))
            await sources.change(call, id, wish, frozenset((revision_of(found),)))
        except Stale:
            if last:
                raise
        else:
            return
