"""The settings that a source inherits of its tags' defaults, and those that hold for it then. Pure.

For each setting: a source's own value, which is all where it says so (`own_only`); else that of the first of its tags
that has one, in the order in which the source has them, and for each tag the tag itself before those above it
("news/se" before "news"); else the service's default, which is None here. `ignore` adds up. What a source of its kind
can't have is passed over.

The source that is stored is always its own, without anything inherited: whoever writes uses `LiveSource.source`,
whoever looks or explains uses `LiveSource.effective`, and the storage refuses the latter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, get_args

import msgspec

from actors.content.messages.readings import FORMATS, not_chosen_by
from actors.previews import PartShown
from storage.records.source import Source
from storage.records.tag_defaults import Inheritable, TagDefaults

INHERITABLE: Final[tuple[Inheritable, ...]] = get_args(Inheritable)
_ONE_VALUE: Final[tuple[Inheritable, ...]] = ("schedule", "hours", "bar", "selector")
OTHER_PART: Final = b"other"
"""The mark of a memory whose part is watched no longer; no part has it."""
Origins = Mapping[Inheritable, tuple[str, ...]]
"""The tags that each inherited setting is from; one, but for `ignore`."""


class EffectiveSource(Source, frozen=True):
    """A source with what it inherits. It is for reading and never stored."""

    origins: Origins = msgspec.field(default_factory=dict)


class TagTable:
    """The defaults of all tags, as they were read last."""

    def __init__(self) -> None:
        self._by_tag: Mapping[str, TagDefaults] = {}

    def __repr__(self) -> str:
        return f"<TagTable of {len(self._by_tag)} tags>"

    def take(self, defaults: Sequence[TagDefaults]) -> bool:
        """Take over what is stored; return whether that is something else."""
        before, self._by_tag = self._by_tag, {one.tag: one for one in defaults}
        return self._by_tag != before

    def of(self, source: Source) -> Source:
        """Return a source as it is watched: itself if it inherits nothing."""
        return effective(source, self._by_tag)


def above(tag: str) -> Iterator[str]:
    """Yield a tag and those above it, the nearest first.

    >>> list(above("label:news/se/skåne")), list(above("topic:ai"))
    (['label:news/se/skåne', 'label:news/se', 'label:news'], ['topic:ai'])
    """
    yield tag
    while "/" in tag.partition(":")[2]:
        tag = tag.rpartition("/")[0]
        yield tag


def defaults_of(tags: Collection[str], by_tag: Mapping[str, TagDefaults]) -> list[TagDefaults]:
    """Return the defaults that sources or alerts with these tags have, those that go first at first."""
    names = dict.fromkeys(name for tag in tags for name in above(tag))
    return [by_tag[name] for name in names if name in by_tag]


def effective(source: Source, by_tag: Mapping[str, TagDefaults]) -> Source:
    """Return a source as it is watched: with what it inherits, or itself if it inherits nothing."""
    if not by_tag or source.practice is not None:
        return source
    values: dict[str, object] = {}
    ignore, origins = source.ignore, dict[Inheritable, tuple[str, ...]]()
    for one in defaults_of(source.tags, by_tag):
        for name in _ONE_VALUE:
            value = getattr(one, name)
            if value is None or name in origins or name in source.own_only or getattr(source, name) is not None:
                continue
            if _fits(source, name, value):
                values[name], origins[name] = value, (one.tag,)
        theirs = () if "ignore" in source.own_only else one.ignore
        if more := tuple(each for each in theirs if each not in ignore and _fits(source, "ignore", each)):
            ignore, origins["ignore"] = (*ignore, *more), (*origins.get("ignore", ()), one.tag)
    if not origins:
        return source
    own = {name: getattr(source, name) for name in Source.__struct_fields__}
    return EffectiveSource(**own | values | {"ignore": ignore}, origins=origins)


def _fits(source: Source, name: Inheritable, value: object) -> bool:
    """Return whether a source may have a setting: no feed has a bar, no JSON document a part that CSS chooses."""
    if name not in source.tier.settings:
        return False
    if name not in ("selector", "ignore"):
        return True
    format = source.detection.format if source.detection.format in FORMATS else "html"
    return not not_chosen_by(format, (str(value),))


def origins_of(source: Source) -> Origins:
    """Return from which tags a source as it is watched has what it has not itself."""
    return source.origins if isinstance(source, EffectiveSource) else {}


def part_of(source: Source) -> bytes:
    """Return a mark of the part of a page that is watched, if tags have a say in it; b"" when the record says it all.

    What is remembered of a page is of one part. When tags choose another one, that is a page to begin anew with, and
    its difference is no news. The order of what is left out, which is that of the tags, makes no other part.
    """
    if not isinstance(source, EffectiveSource) or not source.origins.keys() & {"selector", "ignore"}:
        return b""
    return blake2b(msgspec.json.encode((source.selector, sorted({*source.ignore}))), digest_size=6).digest()


def part_shown(source: Source) -> PartShown:
    """Return which part of a page is watched, and what of it comes from which tags."""
    inherited = {str(name): tags for name, tags in origins_of(source).items() if name in ("selector", "ignore")}
    return PartShown(source.selector, source.ignore, inherited)
