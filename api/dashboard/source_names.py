"""Sources by name: the ids for typed names, and names to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

import trio

from actors.errors import DomainError
from actors.messages.sources import ListSources
from actors.messages.views import SourcePage
from actors.selection import ALL, SourceSelection
from api.dashboard.screen import Visit
from storage.records.source import Source
from supervision import Unanswered

ANSWER_WITHIN = 15.0
SUGGEST_WITHIN = 1.0
SUGGESTED = 200
"""Names that a field offers."""
LONGEST = 80
"""The longest name to offer, to limit the page's size."""
_FOUND = 500


class NamedSources(NamedTuple):
    """The matching ids. unknown: the first name without a source, or ""."""

    ids: tuple[str, ...]
    unknown: str = ""


async def named(visit: Visit, text: str) -> NamedSources:
    """Return the sources that a text means: a name, or names, words of names or ids, separated by commas.

    An exact name beats sources that only contain the words. An id, or a prefix of ids ending in `.*`, is taken as it
    is, because its source may be deleted. Raises as the registry does, and TooSlowError.
    """
    parts = [part for one in text.split(",") if (part := one.strip())]
    with trio.fail_after(ANSWER_WITHIN):
        if len(parts) > 1 and (whole := called_so(await _having(visit, text), text)):  # a name with a comma in it
            return NamedSources(tuple(one.id for one in whole))
        ids: dict[str, None] = {}
        for part in parts:
            if _is_id(part):
                ids[part] = None
                continue
            sources = await _having(visit, part)
            if not sources:
                return NamedSources(tuple(ids), part)
            ids |= {one.id: None for one in called_so(sources, part) or sources}
    return NamedSources(tuple(ids))


async def suggested(visit: Visit) -> list[str]:
    """Return names of sources in order; none if the registry does not answer, because a field works without them."""
    page = SourcePage([], None, {})
    with trio.move_on_after(SUGGEST_WITHIN):
        try:
            page = await visit.context.registry.ask(partial(ListSources, SUGGESTED))
        except (DomainError, Unanswered):
            return []
    names = {view.source.called for view in page.views}
    return sorted((name for name in names if len(name) <= LONGEST), key=str.casefold)


def called_so(sources: Sequence[Source], name: str) -> list[Source]:
    """Return the sources with exactly this name or address, ignoring case."""
    wanted = name.strip().casefold()
    return [one for one in sources if wanted in (one.name.casefold(), one.url.casefold())]


async def _having(visit: Visit, words: str) -> list[Source]:
    where = SourceSelection(words=tuple(words.split())) or ALL
    page: SourcePage = await visit.context.registry.ask(partial(ListSources, _FOUND, where=where))
    return [view.source for view in page.views]


def _is_id(text: str) -> bool:
    if text.endswith(".*"):
        return True
    try:
        UUID(text)
    except ValueError:
        return False
    return True
