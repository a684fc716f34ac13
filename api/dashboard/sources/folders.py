"""Tags as folders with counts, nested at colons and slashes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from storage.records.source import OWN_NAMESPACES

LABEL = "label:"
MOST = 100
"""Folders to show."""


class Folder(NamedTuple):
    """A tag, or a level above tags. says: its last word. tag: the list's filter. depth: from 0."""

    says: str
    tag: str
    depth: int
    sources: int


def folders(counts: Mapping[str, int]) -> list[Folder]:
    """Return users' tags as folders, in order. counts: as named by `selecting.folders_of`.

    >>> counts = {"label:news": 1, "label:news/*": 3, "label:news/se": 2, "label:news/se/*": 2, "practice:page": 1}
    >>> [(one.says, one.tag, one.depth, one.sources) for one in folders(counts)]
    [('news', 'news/*', 0, 3), ('se', 'news/se', 1, 2)]
    >>> [(one.says, one.tag, one.depth) for one in folders({"topic:ai": 1, "topic:ai/*": 1, "topic:*": 1})]
    [('topic', 'topic:*', 0), ('ai', 'topic:ai', 1)]
    """
    names = {name.removesuffix("/*") for name in counts if name.partition(":")[0] not in OWN_NAMESPACES}
    found = []
    for name in sorted(names, key=_order):
        space, _, words = name.partition(":")
        parts = words.split("/")
        above = 0 if name.startswith(LABEL) else 1
        if words == "*":
            found.append(Folder(space, name, 0, counts[name]))
            continue
        inside = counts.get(f"{name}/*", 0)
        is_folder = any(other.startswith(f"{name}/") for other in names)
        tag = (f"{name}/*" if is_folder else name).removeprefix(LABEL)
        count = inside if is_folder else counts.get(name, inside)
        found.append(Folder(parts[-1], tag, above + len(parts) - 1, count))
    return found


def _order(name: str) -> tuple[str, ...]:
    """Return a folder's sort key: below its parents, by its words."""
    space, _, words = name.partition(":")
    path = [] if f"{space}:" == LABEL else [space]
    return tuple(part.casefold() for part in (path if words == "*" else [*path, *words.split("/")]))
