"""Feeds that are not themselves: one whose entries are new as a whole, and one that is its bridge's error report. Pure.

A feed that moves to another system often gives every entry a new identity; told as news, that is a flood. So when
all of at least ten entries are new at once and their dates don't say that they are, they are held: kept as events of
the source that no alert gets, and said once. What tells news from a move is first the date: entries published since
the last good look are news, however many and however alike their dates are, as in a batch. Then what is still there: a
feed that kept any entry has not moved, and one that was empty neither. Without usable dates the first such turn is
held; if the next change is one again, the feed is simply fast, and from then on it is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from actors.content.messages.readings import Entry, FeedReading
from actors.sources.feed.seen import Manner
from storage.records.identity import Millis

FEWEST_ENTRIES = 10
SLACK = 6 * 3600 * 1000
"""Milliseconds by which an entry may be dated before the last good look and still be news: caches, moderation."""

_BRIDGE = re.compile(r"bridge returned error \d+|rss reader not yet whitelist", re.IGNORECASE)
"""How RSS-Bridge and Nitter begin the title of an entry that is their own error."""
_REPORT = re.compile(r"bridge returned error \d+! ?\(\d+\)", re.IGNORECASE)
_PLAIN = re.compile(r"(?:an )?(?:unknown |internal |server )?error(?: has)?(?: occurr?ed)?[.!]?", re.IGNORECASE)
_MOST_REPORTS = 3


class Turn(Struct, frozen=True):
    """What to do about the new entries: those `told` are news; `held` are not, and `say` whether to say so."""

    told: tuple[Entry, ...]
    held: tuple[Entry, ...]
    say: bool
    manner: Manner


def turn_of(count: int, new: Sequence[Entry], before: Manner, since: Millis | None, *, was_empty: bool = False) -> Turn:
    """Decide about the new ones among `count` entries of a known feed. since: the last good look; None: unknown."""
    if count < FEWEST_ENTRIES or len(new) < count or was_empty:
        return Turn(tuple(new), (), False, Manner.PLAIN if before is Manner.HELD else before)
    fresh = tuple(entry for entry in new if is_fresh(entry, since))
    if len(fresh) >= len(new) / 2:
        return Turn(tuple(new), (), False, before)
    dated = len({entry.published_at for entry in new if entry.published_at is not None}) > len(new) / 2
    if not dated and before is not Manner.PLAIN:
        return Turn(tuple(new), (), False, Manner.TURNS_OVER)
    held = tuple(entry for entry in new if not is_fresh(entry, since))
    return Turn(fresh, held, before is not Manner.HELD, Manner.HELD)


def error_report(feed: FeedReading) -> str | None:
    """Return the title of the entry by which a bridge reports its own error, when the feed holds nothing else."""
    titles = [entry.title.strip() for entry in feed.entries]
    if 1 <= len(titles) <= _MOST_REPORTS and all(_BRIDGE.match(title) for title in titles):
        return titles[0][:200]
    if len(titles) == 1 and _PLAIN.fullmatch(titles[0]):
        return titles[0]
    return None


def is_report(entry: Entry) -> bool:
    """Return whether an entry is a bridge's error report by its whole title; among real entries it is left out."""
    return _REPORT.fullmatch(entry.title.strip()) is not None


def is_fresh(entry: Entry, since: Millis | None) -> bool:
    """Return whether an entry is dated since the last good look, or shortly before."""
    return since is not None and entry.published_at is not None and entry.published_at >= since - SLACK
