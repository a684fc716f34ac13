"""Sources to choose from: for an alert or a publication, and by typed names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

import trio

from actors.errors import DomainError
from actors.messages.views import ALL, SourceSelection, text_of
from api.dashboard.screen import Visit
from api.nouns.sources import MOST_NAMED, every, page
from storage.records.identity import SourceId
from storage.records.source import Source, distinct_names
from supervision import Unanswered

ANSWER_WITHIN = 15.0
LISTED = 200  # sources to list; with more, only chosen and found ones
FOUND = 50
LOOKED_AT = 5_000  # sources whose tags are counted and whose addresses are searched
SUGGEST_WITHIN = 1.0
SUGGESTED = 200
LONGEST = 80  # the longest name to offer, to limit the page's size
_PAGE = 500


class Group(NamedTuple):
    """Sources that share a tag."""

    tag: str
    size: int


class Picker(NamedTuple):
    """The choices. total: of all sources, as far as counted. searched: only chosen and found ones are listed."""

    choices: Sequence[dict[str, str]]
    groups: Sequence[Group]
    total: int
    searched: bool


async def private_choices(visit: Visit, chosen: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return the private sources to include by name; chosen ones stay, even if they are no longer private."""
    views = (await page(visit, MOST_NAMED, where=SourceSelection(private=True))).views
    names = distinct_names((each.source.id, each.source.called, each.source.url) for each in views)
    return [(id, name, "") for id, name in ({id: id for id in chosen} | names).items()]


async def picker(visit: Visit, chosen: Iterable[str], find: str) -> Picker:
    """Return the choices. Raises as the registry does, and TooSlowError."""
    with trio.fail_after(ANSWER_WITHIN):
        sources = sorted(await every(visit, LOOKED_AT), key=lambda each: each.url)
    wanted = dict.fromkeys(chosen)
    listed = [each for each in sources if each.id in wanted]
    if len(sources) <= LISTED:
        listed += [each for each in sources if each.id not in wanted]
    else:
        listed += found(sources, find, wanted)
        listed += await sources_of(visit, [id for id in wanted if id not in {each.id for each in sources}])
    counted = Counter(tag for source in sources for tag in source.tags)
    groups = [Group(tag, count) for tag, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))]
    return Picker([choice(each) for each in listed], groups[:FOUND], len(sources), len(sources) > LISTED)


def found(sources: Sequence[Source], find: str, but: Iterable[str] = ()) -> list[Source]:
    words, known = find.casefold().split(), frozenset(but)
    fits = (each for each in sources if words and each.id not in known and all(word in text_of(each) for word in words))
    return [each for each, _ in zip(fits, range(FOUND), strict=False)]


def choice(source: Source) -> dict[str, str]:
    """Return a source to choose. words: its name, else its address. address: shown next to a name, else ""."""
    address, tags = source.url.partition("://")[2].rstrip("/"), ", ".join(source.tags)
    words = source.name or address
    return {"id": source.id, "words": words, "tags": tags, "address": address if source.name else ""}


async def sources_of(visit: Visit, ids: Iterable[str]) -> list[Source]:
    watched = [await visit.context.storage.sources.get(SourceId(id)) for id in ids]
    return [each.source for each in watched if each is not None]


class NamedSources(NamedTuple):
    """The matching ids. unknown: the first name without a source, or ""."""

    ids: tuple[str, ...]
    unknown: str = ""


async def named(visit: Visit, text: str) -> NamedSources:
    """Return the sources that a text means: a name, or names, words of names or ids, separated by commas.

    An exact name beats sources that only contain the words. An id, or a prefix of ids ending in `.*`, is taken as it
    is, because its source may be deleted. Raises as the registry does, and TooSlowError.
    """
    parts = [part for piece in text.split(",") if (part := piece.strip())]
    with trio.fail_after(ANSWER_WITHIN):
        if len(parts) > 1 and (whole := called_so(await _having(visit, text), text)):  # a name with a comma in it
            return NamedSources(tuple(source.id for source in whole))
        ids: dict[str, None] = {}
        for part in parts:
            if _is_id(part):
                ids[part] = None
                continue
            sources = await _having(visit, part)
            if not sources:
                return NamedSources(tuple(ids), part)
            ids |= {source.id: None for source in called_so(sources, part) or sources}
    return NamedSources(tuple(ids))


async def suggested(visit: Visit) -> list[str]:
    names = set[str]()
    with trio.move_on_after(SUGGEST_WITHIN), suppress(DomainError, Unanswered):
        names = {view.source.called for view in (await page(visit, SUGGESTED)).views}
    return sorted((name for name in names if len(name) <= LONGEST), key=str.casefold)


def called_so(sources: Sequence[Source], name: str) -> list[Source]:
    wanted = name.strip().casefold()
    return [source for source in sources if wanted in (source.name.casefold(), source.url.casefold())]


async def _having(visit: Visit, words: str) -> list[Source]:
    where = SourceSelection(words=tuple(words.split())) or ALL
    return [view.source for view in (await page(visit, _PAGE, where=where)).views]


def _is_id(text: str) -> bool:
    with suppress(ValueError):
        return text.endswith(".*") or bool(UUID(text))
    return False
