"""Random histories of feeds, checked as the service does: nothing reported twice, nothing missed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.egress.http import FetchedResponse
from actors.sources.checks.fetch import BodyCheck
from actors.sources.feed.reader import FeedReader
from storage.records.event import NEW, Draft
from storage.records.identity import Millis
from tests.support.build import NOW, a_source
from tests.support.inline_jail import InlineJail

URL = "https://site1.test/feed"
STYLES = ("guid and link", "link", "guid", "one guid for all", "one guid, no link", "one link for all", "nothing")
EDITABLE = ("guid and link", "link", "guid", "one guid for all")
"""Styles that keep an entry's id when its words change."""


def word(number: int) -> str:
    """Return a word that no mask takes for a counter."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


@dataclass(frozen=True)
class Item:
    number: int
    revision: int = 0
    guid: int = 0
    days: int = 0

    def words(self) -> str:
        return f"tide {word(self.number)} text {word(self.revision)}"

    def xml(self, style: str, site: str) -> str:
        guid = {"guid and link": f"g{self.number}-{self.guid}", "guid": f"g{self.number}"}.get(style, "")
        guid = "same" if style.startswith("one guid") else guid
        link = f"{site}/{self.number}" if style in ("guid and link", "link", "one guid for all") else ""
        link = "/log" if style == "one link for all" else link
        return (
            "<item>"
            + (f"<guid isPermaLink='false'>{guid}</guid>" if guid else "")
            + (f"<link>{link}</link>" if link else "")
            + f"<title>News {word(self.number)}</title><description>{self.words()}</description>"
            + f"<pubDate>{1 + self.days % 27:02} Mar 2026 10:00:00 GMT</pubDate></item>"
        )


@dataclass
class History:
    """A random feed, and the events that a reader got."""

    style: str
    chance: random.Random
    window: int
    items: list[Item] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    born: int = 0
    site: str = "http://site1.test"

    def publish(self) -> None:
        self.items.insert(0, Item(self.born, days=self.born))
        self.born += 1
        del self.items[self.window :]

    def live(self) -> None:
        """Apply one random change."""
        deeds = [self.publish, self.redate, self.shuffle, self.hide, self.show]
        deeds += [self.edit] if self.style in EDITABLE else []
        deeds += [self.reguid, self.move] if self.style == "guid and link" else []
        deeds += [self.move] if self.style == "link" else []
        self.chance.choice(deeds)()

    def _change(self, **changes: int) -> None:
        at = self.chance.randrange(len(self.items))
        item = self.items[at]
        self.items[at] = replace(item, **{name: getattr(item, name) + step for name, step in changes.items()})

    def edit(self) -> None:
        self._change(revision=1)

    def redate(self) -> None:
        self._change(days=self.chance.randrange(1, 20))

    def reguid(self) -> None:
        self._change(guid=1)

    def move(self) -> None:
        self.site = "https://www.site1.test" if self.site == "http://site1.test" else "http://site1.test"

    def shuffle(self) -> None:
        self.chance.shuffle(self.items)

    def hide(self) -> None:
        self.hidden.add(self.chance.choice(self.items).number)

    def show(self) -> None:
        self.hidden.clear()

    def shown(self) -> list[Item]:
        seen = [item for item in self.items if item.number not in self.hidden] or self.items
        return seen if len(seen) >= 4 else self.items

    def document(self) -> bytes:
        items = [item.xml(self.style, self.site) for item in self.shown()]
        if self.chance.random() < 0.3:
            items.append(self.chance.choice(items))  # some feeds list an entry twice
        return f"<rss version='2.0'><channel><title>T</title>{''.join(items)}</channel></rss>".encode()


async def look(base: bytes, body: bytes, at: int) -> tuple[tuple[Draft, ...], bytes]:
    fetched = FetchedResponse(
        url=URL, status=200, headers={}, body=body, content_type="", etag=None, last_modified=None,
        max_age=None, elapsed_ms=1, wire_bytes=len(body), hops=(),
    )  # fmt: skip
    check = BodyCheck(a_source(1), base, fetched, Millis(at), Millis(at - 1))
    reading = await FeedReader(2.0).read(InlineJail(), check)
    return reading.drafts, base if reading.base is None else reading.base


async def live_through(style: str, seed: int, looks: int) -> None:
    chance = random.Random(seed)
    history = History(style, chance, window=chance.randrange(4, 9))
    for _ in range(6):
        history.publish()
    told = {item.number: item.revision for item in history.shown()}
    _, base = await look(b"", history.document(), NOW)
    for turn in range(looks):
        for _ in range(chance.randrange(4)):
            history.live()
        expected = sorted(
            (item.words(), "new" if item.number not in told else "updated")
            for item in history.shown()
            if told.get(item.number) != item.revision
        )
        drafts, base = await look(base, history.document(), NOW + turn)
        found = sorted((draft.content, "new" if NEW in draft.tags else "updated") for draft in drafts)
        assert found == expected, (style, turn)
        told |= {item.number: item.revision for item in history.shown()}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(STYLES), st.integers(0, 10**9))
def test_every_visible_change_is_reported_exactly_once(style: str, seed: int) -> None:
    trio.run(live_through, style, seed, 20)


async def test_a_feed_of_five_thousand_entries_reports_the_new_one() -> None:
    items = [f"<item><guid>{n}</guid><title>{word(n)}</title></item>" for n in range(5_000)]
    before, after = "".join(items[1:]), "".join(items)
    _, base = await look(b"", f"<rss version='2.0'><channel>{before}</channel></rss>".encode(), NOW)
    drafts, _ = await look(base, f"<rss version='2.0'><channel>{after}</channel></rss>".encode(), NOW)
    assert [draft.title for draft in drafts] == [word(0)]
