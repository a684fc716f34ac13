"""The settings that a source inherits from the defaults of its tags. Pure.

For each setting the first of these wins: the source's own value (alone if `own_only` names the setting); the value of
its first tag that has one, in the source's order, and each tag before its parents ("news/se" before "news"); the
service's default, which is None here. `ignore` adds up. Values that a source's tier can't have are skipped.

Storage keeps only the source's own settings: code that writes uses `LiveSource.source`, code that checks or explains
uses `LiveSource.effective`, and storage refuses the latter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, get_args

import msgspec

from actors.content.messages import FORMATS, not_chosen_by
from actors.messages.requests import ShownPart
from storage.records.source import Inheritable, Source, TagDefaults

INHERITABLE: Final[tuple[Inheritable, ...]] = get_args(Inheritable)
_ONE_VALUE: Final[tuple[Inheritable, ...]] = ("schedule", "hours", "bar", "selector")
OTHER_PART: Final = b"other"  # marks a memory of a part that is no longer watched; no part has this mark
Origins = Mapping[Inheritable, tuple[str, ...]]
"""The tags that each inherited setting comes from: one, or several for `ignore`."""


class EffectiveSource(Source, frozen=True):
    """A source with its inherited settings. Read only, never stored."""

    origins: Origins = msgspec.field(default_factory=dict)


class TagTable:
    """The defaults of all tags, as last read."""

    def __init__(self) -> None:
        self._by_tag: Mapping[str, TagDefaults] = {}

    def replace_all(self, defaults: Sequence[TagDefaults]) -> bool:
        """Replace the defaults; return whether they differ."""
        before, self._by_tag = self._by_tag, {each.tag: each for each in defaults}
        return self._by_tag != before

    def of(self, source: Source) -> Source:
        return effective(source, self._by_tag)


def with_parents(tag: str) -> Iterator[str]:
    """Yield a tag and its parents, nearest first.

    >>> list(with_parents("label:news/se/skåne")), list(with_parents("topic:ai"))
    (['label:news/se/skåne', 'label:news/se', 'label:news'], ['topic:ai'])
    """
    yield tag
    while "/" in tag.partition(":")[2]:
        tag = tag.rpartition("/")[0]
        yield tag


def defaults_of(tags: Collection[str], by_tag: Mapping[str, TagDefaults]) -> list[TagDefaults]:
    names = dict.fromkeys(name for tag in tags for name in with_parents(tag))
    return [by_tag[name] for name in names if name in by_tag]


def effective(source: Source, by_tag: Mapping[str, TagDefaults]) -> Source:
    if not by_tag or source.practice is not None:
        return source
    values: dict[str, object] = {}
    ignore, origins = source.ignore, dict[Inheritable, tuple[str, ...]]()
    for tag in defaults_of(source.tags, by_tag):
        for name in _ONE_VALUE:
            value = getattr(tag, name)
            if value is None or name in origins or name in source.own_only or getattr(source, name) is not None:
                continue
            if _fits(source, name, value):
                values[name], origins[name] = value, (tag.tag,)
        tag_ignore = () if "ignore" in source.own_only else tag.ignore
        if more := tuple(each for each in tag_ignore if each not in ignore and _fits(source, "ignore", each)):
            ignore, origins["ignore"] = (*ignore, *more), (*origins.get("ignore", ()), tag.tag)
    if not origins:
        return source
    own = {name: getattr(source, name) for name in Source.__struct_fields__}
    return EffectiveSource(**own | values | {"ignore": ignore}, origins=origins)


def _fits(source: Source, name: Inheritable, value: object) -> bool:
    """Return whether a source can have a setting: a feed has no threshold, a JSON document no CSS selector."""
    if name not in source.tier.settings:
        return False
    if name not in ("selector", "ignore"):
        return True
    format = source.detection.format if source.detection.format in FORMATS else "html"
    if format == "json" and not {"$", ".", "["}.intersection(str(value)):
        return False  # a bare word that a tag sets means an element of its pages
    return not not_chosen_by(format, (str(value),))


def origins_of(source: Source) -> Origins:
    return source.origins if isinstance(source, EffectiveSource) else {}


def part_mark(source: Source) -> bytes:
    """Return a mark of the watched part of a page if tags decide it; b"" when the record alone does.

    If tags choose another part, the page starts over and the difference is no change. The order of `ignore` is no
    matter.
    """
    if not isinstance(source, EffectiveSource) or not source.origins.keys() & {"selector", "ignore"}:
        return b""
    return blake2b(msgspec.json.encode((source.selector, sorted({*source.ignore}))), digest_size=6).digest()


def shown_part(source: Source) -> ShownPart:
    inherited = {str(name): tags for name, tags in origins_of(source).items() if name in ("selector", "ignore")}
    return ShownPart(source.selector, source.ignore, inherited)
