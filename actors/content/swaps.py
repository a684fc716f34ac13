"""Another page in this one's place: a login, an error, "Loading ...", the site's home page, another language.

Such a page is most often gone after a while, and told it would be told twice. It is known by what it lacks, nearly all
blocks of the told page, and by one sign more: there is little of it, its title is another page's, its language is, or
its address. It is *held*. When the told page is back, nothing was; when the other one stays, it is told, once. How long
it must stay depends on what speaks for its going: a page with words of an error, a login or a redirect waits longest,
one under the same title only for a second look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.content.language import language_of
from actors.content.memory import Held, Settled, packed, unpack_keys
from actors.content.wording import words_in

_REPLACED = 0.4
"""Jaccard index of blocks below which a page is another one when there is little of it."""
_HARDLY = 0.2
_LITTLE = 0.35
_SAME_OTHER = 0.5
_LOOKS, _FOR = 3, 30 * 60_000
_LOOKS_WITH_WORDS = 12
_LOOKS_SAME_TITLE = 2
MOST_LOOKS = 16
"""Looks without the told page after which whatever stands in its place is told."""
SOON = 3
"""Looks of a held page that come within minutes; after these the source's own pace is enough."""
_SAME_TITLE = 0.34
_PARTS = re.compile(r"\s*(?:[|·•:»–—]|\s-\s)\s*")


class Face(Struct, frozen=True):
    """What a page shows of itself beside its blocks: title and address, as far as they are known; whether its heads say
    that it is an error, a login, a redirect or is still loading."""

    title: str = ""
    address: str = ""
    says_so: bool = False


class Swap(Struct, frozen=True):
    """Two states of a page, each with its face: the told one, and what is there now."""

    before: Settled
    now: Settled
    told: Face
    face: Face
    gone: frozenset[str] = frozenset()
    """Keys of blocks that went when something was told: a page that was told once may come back at any time."""

    def is_one(self) -> bool:
        """Return whether another page stands in the told one's place, or may."""
        if sum(key in self.gone for key in self.now.keys) >= _SAME_OTHER * len(self.now.keys):
            return False
        if alike(self.before.keys, self.now.keys, _REPLACED):
            return False
        told = set(self.before.keys)
        replaced = 2 * len(told.intersection(self.now.keys)) < len(told)
        return self._shrunk() or (replaced and not alike(self.before.keys, self.now.keys, _HARDLY))

    def stays(self, held: Held, at: int) -> bool:
        """Return whether what stands in the page's place has stood there for long enough to be told.

        at: when this look was taken, in milliseconds; 0 where nobody knows: then only looks count.
        """
        if held.away >= MOST_LOOKS:
            return True
        if not alike(unpack_keys(held.keys), self.now.keys):
            return False
        looks = held.looks + 1
        if self.face.says_so:
            return looks >= _LOOKS_WITH_WORDS
        if not self._is_another():
            return looks >= _LOOKS_SAME_TITLE
        return looks >= _LOOKS and (not at or at - held.since >= _FOR)

    def _shrunk(self) -> bool:
        return _words(self.now.texts) < _LITTLE * _words(self.before.texts)

    def _is_another(self) -> bool:
        """Return whether something beside the blocks says that this is another page."""
        told, face = self.told, self.face
        if self._shrunk() or (told.address and face.address and told.address != face.address):
            return True
        return titles_differ(told.title, face.title) or language_of(self.before.texts) != language_of(self.now.texts)


def once_more(held: Held, now: Settled, at: int) -> Held:
    """Return what is held after a look that found another page in the place."""
    if held.keys and alike(unpack_keys(held.keys), now.keys):
        return replace(held, keys=packed(now.keys), looks=held.looks + 1, away=held.away + 1)
    return Held(packed(now.keys), 1, at, held.away + 1)


def titles_differ(one: str, other: str) -> bool:
    """Return whether two titles are of two pages: without what they share between bars, few words in common.

    >>> titles_differ("Prices | Shore", "Shore"), titles_differ("12 offers in May", "14 offers in May")
    (True, False)
    """
    first, second = set(_PARTS.split(one.casefold())), set(_PARTS.split(other.casefold()))
    old = {word for part in first - second for word in part.split()}
    new = {word for part in second - first for word in part.split()}
    return len(old & new) < _SAME_TITLE * len(old | new)


def alike(one: Sequence[str], other: Sequence[str], least: float = _SAME_OTHER) -> bool:
    """Return whether the Jaccard index of two sets of keys reaches `least`."""
    first, second = set(one), set(other)
    return len(first & second) >= least * max(1, len(first | second))


def _words(texts: Iterable[str]) -> int:
    return sum(words_in(text) for text in texts)
