"""Feeds whose content was replaced: one that moved, one that is all new, a bridge's error report.

A feed that moves to another system often gives every entry another id and link. `seen` recognises such entries by
their text; if they are as many as those that stayed, they are held: events of the source that no alert gets, with one
notice. A feed that renames its entries in every response is held only once.

A feed without any known entry may show fresh entries or another system's archive. Entries dated after all seen ones
are reported, and so are all entries if the feed was empty or was replaced as a whole before: that is its pace. The
first such replacement of at least ten entries without such dates is held, with a notice. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from actors.content.messages.readings import Entry, FeedReading
from actors.sources.feed.seen import Manner
from storage.records.identity import Millis

FEWEST_ENTRIES = 10

_BRIDGE = re.compile(r"bridge returned error \d+|rss reader not yet whitelist", re.IGNORECASE)
"""The start of RSS-Bridge's and Nitter's error titles."""
_REPORT = re.compile(r"bridge returned error \d+! ?\(\d+\)", re.IGNORECASE)
_PLAIN = re.compile(r"(?:an )?(?:unknown |internal |server )?error(?: has)?(?: occurr?ed)?[.!]?", re.IGNORECASE)
_MOST_REPORTS = 3


class Turn(Struct, frozen=True):
    """The decision on unknown and renamed entries: `told` are reported; `held` are not, and a notice names them."""

    told: tuple[Entry, ...]
    held: tuple[Entry, ...]
    manner: Manner


def turn_of(
    count: int,
    new: Sequence[Entry],
    before: Manner,
    newest: Millis | None,
    *,
    moved: Sequence[Entry] = (),
    was_empty: bool = False,
) -> Turn:
    """Decide on the new and the moved ones among `count` entries of a known feed. newest: the latest date seen."""
    if moved and 2 * len(moved) >= count - len(new):
        held = () if before is Manner.RENAMED else tuple(moved)
        return Turn(tuple(new), held, Manner.RENAMED)
    if count < FEWEST_ENTRIES or len(new) < count or was_empty:
        return Turn(tuple(new), (), before if before is Manner.TURNS_OVER else Manner.PLAIN)
    later = tuple(entry for entry in new if is_later(entry, newest))
    if len(later) >= len(new) / 2:
        return Turn(tuple(new), (), before)
    if before in (Manner.HELD, Manner.TURNS_OVER):
        return Turn(tuple(new), (), Manner.TURNS_OVER)
    return Turn(later, tuple(entry for entry in new if not is_later(entry, newest)), Manner.HELD)


def error_report(feed: FeedReading) -> str | None:
    """Return the title of a bridge's error report, if the feed has nothing else."""
    titles = [entry.title.strip() for entry in feed.entries]
    if 1 <= len(titles) <= _MOST_REPORTS and all(_BRIDGE.match(title) for title in titles):
        return titles[0][:200]
    if len(titles) == 1 and _PLAIN.fullmatch(titles[0]):
        return titles[0]
    return None


def is_report(entry: Entry) -> bool:
    """Return whether an entry's whole title is a bridge's error report; such entries are dropped."""
    return _REPORT.fullmatch(entry.title.strip()) is not None


def is_later(entry: Entry, newest: Millis | None) -> bool:
    return newest is not None and entry.published_at is not None and entry.published_at > newest
