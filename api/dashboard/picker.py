"""The choice of sources for an alert or a publication: one by one, or by a shared tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import trio

from actors.messages.sources import ListSources
from actors.messages.views import SourcePage
from actors.selecting import text_of
from actors.selection import SourceSelection
from api.dashboard.screen import Visit
from api.operations.publications import MOST_NAMED
from api.operations.sources import page
from storage.records.identity import SourceId
from storage.records.source import Source

ANSWER_WITHIN = 15.0
LISTED = 200
"""Sources to list; with more, only chosen and found ones."""
FOUND = 50
LOOKED_AT = 5_000
"""Sources whose tags are counted and whose addresses are searched."""
_PAGE = 500


class Choice(NamedTuple):
    """A source to choose. words: its name, else its address. address: shown next to a name, else ""."""

    id: str
    words: str
    tags: str
    address: str = ""


class Group(NamedTuple):
    """Sources that share a tag."""

    tag: str
    size: int


class Picker(NamedTuple):
    """The choices. total: the number of sources, as far as counted (`more`: at least).

    searched: the list has only chosen sources and those that match the words.
    """

    choices: Sequence[Choice]
    groups: Sequence[Group]
    total: int
    searched: bool


async def private_choices(visit: Visit, chosen: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return the private sources to include by name; those that are chosen stay, whatever they are by now."""
    views = (await page(visit, MOST_NAMED, where=SourceSelection(private=True))).views
    names: dict[str, str] = {each.source.id: each.source.called for each in views}
    return [(id, name, "") for id, name in ({id: id for id in chosen} | names).items()]


async def picker(visit: Visit, chosen: Iterable[str], find: str) -> Picker:
    """Return the choices. Raises as the registry does, and TooSlowError."""
    sources = await _sources(visit)
    wanted = dict.fromkeys(chosen)
    listed = [each for each in sources if each.id in wanted]
    if len(sources) <= LISTED:
        listed += [each for each in sources if each.id not in wanted]
    else:
        listed += found(sources, find, wanted)
        listed += await _rest(visit, [id for id in wanted if id not in {each.id for each in sources}])
    counted = Counter(tag for source in sources for tag in source.tags)
    groups = [Group(tag, count) for tag, count in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]
    return Picker([choice(each) for each in listed], groups[:FOUND], len(sources), len(sources) > LISTED)


def found(sources: Sequence[Source], find: str, but: Iterable[str] = ()) -> list[Source]:
    """Return the first sources with all the words in their names, addresses or tags, except `but`."""
    words, without = find.casefold().split(), frozenset(but)
    if not words:
        return []
    fits = (each for each in sources if each.id not in without and all(word in text_of(each) for word in words))
    return [each for each, _ in zip(fits, range(FOUND), strict=False)]


def choice(source: Source) -> Choice:
    address = source.url.partition("://")[2].rstrip("/")
    return Choice(source.id, source.name or address, ", ".join(source.tags), address if source.name else "")


async def _sources(visit: Visit) -> list[Source]:
    """Return at most LOOKED_AT sources, by address."""
    all_of_them: list[Source] = []
    after = None
    with trio.fail_after(ANSWER_WITHIN):
        while len(all_of_them) < LOOKED_AT:
            page: SourcePage = await visit.context.registry.ask(partial(ListSources, _PAGE, after=after))
            all_of_them += [view.source for view in page.views]
            after = page.next_after
            if after is None:
                break
    return sorted(all_of_them, key=lambda each: each.url)


async def _rest(visit: Visit, ids: Sequence[str]) -> list[Source]:
    watched = [await visit.context.storage.sources.get(SourceId(id)) for id in ids]
    return [each.source for each in watched if each is not None]
