"""The search for a text in a feed: new, edited or seen, by the feed's memory and its current document."""

from __future__ import annotations

from typing import Literal, TypeAlias

import trio

from actors.content.messages.readings import Entry
from actors.content.wording.searching import folded, holds
from actors.egress.http import FetchedResponse
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.feed.reader import FeedReader, mark_of
from actors.sources.feed.seen import compare
from actors.sources.ports import Ports
from storage.records import note

NOT_IN_MEMORY = "No note of the looks has it. Of a feed only identities are remembered: ask for a look now to see it."
Known: TypeAlias = Literal["new", "edited", "seen"]


async def search(
    ports: Ports, view: SourceView, kept: note.StoredMemory, asked: ExplainSource, today: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text in a feed. Raises LookFailed."""
    wanted = folded(asked.text)
    if today is None or not kept.tier:
        return [Reason("absent", NOT_IN_MEMORY)]
    feed = await FeedReader(ports.settings.parse_deadline).document(ports.world.jail, today)
    found = compare(kept.tier, [mark_of(entry) for entry in feed.entries], number=view.hot.looks + 1)
    for position, entry in enumerate(feed.entries):
        await trio.lowlevel.checkpoint()
        if holds(entry.title, wanted) or wanted in folded(entry.content):
            known: Known = "new" if position in found.new else "edited" if position in found.updated else "seen"
            return [in_a_feed(entry, known)]
    return [in_a_feed(None, "seen")]


def in_a_feed(entry: Entry | None, known: Known) -> Reason:
    """Return the reason for the first entry with a text, by the current feed and its memory."""
    if entry is None:
        return Reason("absent", "Looked at now, no entry of the feed has it.")
    title = entry.title or entry.content
    here = f"The entry “{title[:80]}” is in the feed now"
    if known == "seen":
        says = f"{here}, and has been seen before, by its identity (“{entry.key[:80]}”) and with this very text."
        return Reason("there", f"{says} Unless an event told it, it was there at the first look or held.", text=title)
    why = "its identity has never been seen" if known == "new" else "it says something else than when it was seen"
    return Reason("due", f"{here}, and {why}: the next look that finds it tells it.", text=title)
