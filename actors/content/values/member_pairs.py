"""A changed JSON block, member by member: equal paths on both sides belong together.

So an object with reordered members, or a list with reordered named items, has not changed. A list of plain values is
one member, as its items cannot be distinguished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from actors.content.values.labels import Noted, noted_with
from actors.content.values.members import Member, members_of
from actors.content.values.reading import Found


class Side(NamedTuple):
    """A member on one side: its text, with its values. parts: for a list of plain values, the end and path of each."""

    noted: Noted
    path: str
    parts: tuple[tuple[int, str], ...] = ()

    def path_of(self, found: Found | None) -> str:
        """Return the path of one of its values."""
        return next((path for end, path in self.parts if found is not None and found.end <= end), self.path)


class MemberPair(NamedTuple):
    """A member before and after; None on the side that lacks it."""

    path: str
    before: Side | None
    after: Side | None


def paired(before: Noted, after: Noted, row: str) -> tuple[MemberPair, ...]:
    """Pair the members of a changed block; () if a side is not JSON. row: its place, "" for the top."""
    olds, news = (_sides(noted, members_of(noted.text, row)) for noted in (before, after))
    if not olds or not news:
        return ()
    return tuple(MemberPair(path, olds.get(path), news.get(path)) for path in dict.fromkeys((*news, *olds)))


def _sides(noted: Noted, members: Sequence[Member]) -> Mapping[str, Side]:
    groups: dict[str, list[Member]] = {}
    for one in members:
        groups.setdefault(one.group, []).append(one)
    return {path: _side(noted, path, own) for path, own in groups.items()}


def _side(noted: Noted, path: str, members: Sequence[Member]) -> Side:
    start, end = members[0].start, members[-1].end
    is_quoted = len(members) == 1 and noted.text[start] == '"'
    own = [one for one in noted.values if start < one.end <= end]
    start, end = start + is_quoted, end - is_quoted
    text = noted.text[start:end]
    values = tuple(one._replace(start=max(0, one.start - start), end=min(one.end, end) - start) for one in own)
    parts = tuple((one.end - start, one.path) for one in members) if members[0].path != path else ()
    return Side(noted_with(text, values), path, parts)
