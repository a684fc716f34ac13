"""Generated histories of feeds with known answers: each document of a feed, and its new entries.

Seeds below `HELD_OUT` are for tuning, the others for measuring. A kind is a typical behaviour of feeds (see `KINDS`).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from html import escape

from actors.egress.failures import CheckFailed
from actors.egress.http import FetchedResponse
from actors.sources.checks.fetch import BodyCheck
from actors.sources.feed.reader import FeedReader
from storage.records.event import NEW, RESET
from storage.records.identity import Millis
from tests.support.build import NOW, a_source
from tests.support.inline_jail import InlineJail

HELD_OUT = 1_000
HOUR = 3_600_000
DAY = 24 * HOUR
Report = tuple[str, str]
"""The report's kind ("new", "updated"), and the words of exactly one revision of an entry."""


def word(number: int) -> str:
    """Return a word that no mask takes for a counter or an id."""
    return "w" + "".join(chr(ord("g") + int(digit)) for digit in f"{number:04}")


@dataclass(frozen=True)
class Item:
    number: int
    at: int
    title: str
    revision: int = 0

    @property
    def name(self) -> str:
        return f"{word(self.number)} {word(self.revision)}"


@dataclass
class Style:
    """The format of an item. guid, link: make its id and address. lines: follow its text."""

    guid: Callable[[Item], str] = lambda item: f"id-{item.number}"
    link: Callable[[Item], str] = lambda item: f"https://site1.test/{item.number}"
    lines: Callable[[Item], list[str]] = lambda item: []
    zone: int = 0


@dataclass
class History:
    chance: random.Random
    dated: bool
    newest_first: bool
    is_json: bool
    window: int
    style: Style = field(default_factory=Style)
    items: list[Item] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    expected: Counter[Report] = field(default_factory=Counter)
    allowed: set[Report] = field(default_factory=set)
    moves: int = 0
    born: int = 0
    title: str = ""
    seen: dict[int, int] = field(default_factory=dict)

    def publish(self, count: int, *, at: int | None = None, expected: bool = True) -> None:
        now = NOW + len(self.answers) * HOUR
        for n in range(count):
            date = now - (count - n) * 61_000 - self.chance.randrange(1000) if at is None else at + n * 71_000
            item = Item(self.born, date, self.title or f"Title {word(self.born)}")
            self.born += 1
            self.items.append(item)
            if self.answers and expected:
                self.expected["new", item.name] += 1
            elif self.answers:
                self.allowed.add(("new", item.name))
        del self.items[: -self.window]

    def edit(self, *, retitle: bool = False, expected: bool = True) -> None:
        """Edit an item whose current revision is in the last answer."""
        known = [at for at, item in enumerate(self.items) if self.seen.get(item.number) == item.revision]
        if not known:
            return
        at = self.chance.choice(known)
        item = self.items[at]
        title = f"{item.title} again" if retitle else item.title
        self.items[at] = replace(item, revision=item.revision + 1, title=title)
        if expected:
            self.expected["updated", self.items[at].name] += 1

    def answer(self, style: Style | None = None, *, shuffled: bool = False) -> None:
        self.answers.append(self.document(style, shuffled=shuffled))
        self.seen = {item.number: item.revision for item in self.items}

    def document(self, style: Style | None = None, *, shuffled: bool = False) -> bytes:
        style = style or self.style
        items = self.items[::-1] if self.newest_first else list(self.items)
        if shuffled:
            self.chance.shuffle(items)
        return self._json(items, style) if self.is_json else self._rss(items, style)

    def _json(self, items: list[Item], style: Style) -> bytes:
        rows = [
            {
                "id": style.guid(item) or style.link(item),
                "url": style.link(item),
                "title": item.title,
                "content_text": "\n".join([f"About {item.name} today", *style.lines(item)]),
                **({"date_published": formatdate(item.at / 1000)} if self.dated else {}),
            }
            for item in items
        ]
        return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": rows}).encode()

    def _rss(self, items: list[Item], style: Style) -> bytes:
        rows = []
        for item in items:
            guid = escape(style.guid(item))
            text = "".join(f"&lt;p&gt;{line}&lt;/p&gt;" for line in [f"About {item.name} today", *style.lines(item)])
            date = formatdate(item.at / 1000 + 3600 * style.zone).replace("-0000", f"{style.zone:+03}00")
            rows.append(
                "<item>"
                + (f"<guid isPermaLink='false'>{guid}</guid>" if guid else "")
                + f"<title>{item.title}</title><link>{escape(style.link(item))}</link>"
                + f"<description>{text}</description>"
                + (f"<pubDate>{date}</pubDate>" if self.dated else "")
                + "</item>"
            )
        return f"<rss version='2.0'><channel><title>T</title>{''.join(rows)}</channel></rss>".encode()


def begun(chance: random.Random, *, fewest: int = 1, most: int = 40) -> History:
    window = chance.choice([n for n in (1, 2, 3, 5, 9, 10, 12, 20, 40) if fewest <= n <= most])
    history = History(chance, chance.random() < 0.6, chance.random() < 0.7, chance.random() < 0.3, window)
    pace = chance.choice([5 * 60_000, HOUR, 20 * HOUR])
    for n in range(window):
        history.publish(1, at=NOW - (window - n + 1) * pace)
    return history


def ordinary(chance: random.Random) -> History:
    history = begun(chance, fewest=2)
    history.answer()
    for _ in range(8):
        history.publish(chance.randrange(0, max(1, history.window // 2) + 1))
        slash, site = chance.choice(["", "/"]), chance.choice(["http://", "https://", "https://www."])
        link = "utm_source=rss" if chance.random() < 0.3 else ""
        style = Style(zone=chance.choice([0, 2, -5]))
        style.link = lambda item, s=slash, h=site, q=link: f"{h}site1.test/{item.number}{s}{'?' + q if q else ''}"
        history.answer(style, shuffled=chance.random() < 0.3)
    return history


def edited(chance: random.Random) -> History:
    history = begun(chance)
    history.answer()
    for _ in range(8):
        history.publish(chance.randrange(2) if history.window > 1 else 0)
        for _ in range(chance.randrange(3) if history.window > 3 else chance.randrange(2)):
            history.edit(retitle=chance.random() < 0.3)
        history.answer()
    return history


def status(chance: random.Random) -> History:
    """One link and one title for all entries, and no id or one shared id."""
    history = begun(chance, most=20)
    guid = chance.choice(["", "", "status"])
    history.is_json = False
    history.style = Style(guid=lambda item: guid, link=lambda item: "https://site1.test/status")
    history.title = "Login in region west fails"
    history.items = [replace(item, title=history.title) for item in history.items]
    history.window = 40
    history.answer()
    for _ in range(6):
        history.publish(chance.randrange(3))
        history.answer()
    return history


def turnover(chance: random.Random) -> History:
    """All entries new at each check: with rising dates all are news; without, the first turn may be held."""
    history = begun(chance, fewest=3)
    late = chance.choice([0, 2 * DAY, 30 * DAY])
    history.items = [replace(item, at=item.at - late - 3 * DAY) for item in history.items]
    history.answer()
    for turn in range(4):
        at = NOW - late + (turn - 3) * DAY
        history.publish(history.window, at=at, expected=history.dated or history.window < 10 or turn > 0)
        history.answer()
    return history


def moved(chance: random.Random) -> History:
    history = begun(chance)
    history.answer()
    for turn in range(5):
        if turn == 2:
            where = chance.choice(["https://new.test/blog/{}", "https://site1.test/posts/{}/"])
            history.style = Style(
                guid=lambda item: f"urn:{item.number}:moved",
                link=lambda item, form=where: form.format(item.number),  # type: ignore[misc]
            )
            history.moves = 1
        history.publish(chance.randrange(max(1, history.window // 2)) if turn else 0)
        history.answer()
    return history


def session(chance: random.Random) -> History:
    """Another query in each link at each answer, and no id, or the link as id."""
    history = begun(chance)
    history.answer(_with_session(chance))
    as_id = chance.random() < 0.4
    for _ in range(6):
        history.publish(chance.randrange(max(1, history.window // 2)))
        if chance.random() < 0.3 and history.window > 1 and history.dated:
            history.edit()
        history.answer(_with_session(chance, as_id=as_id))
    return history


def _with_session(chance: random.Random, *, as_id: bool = False) -> Style:
    key, name = f"{chance.getrandbits(40):x}", chance.choice(["mod", "sess", "PHPSESSID"])

    def link(item: Item) -> str:
        return f"https://site1.test/show?id={item.number}&{name}={key}"

    return Style(guid=link if as_id else lambda item: "", link=link)


def random_ids(chance: random.Random) -> History:
    history = begun(chance)
    shared = chance.random() < 0.6
    for turn in range(7):
        if turn:
            history.publish(chance.randrange(max(1, history.window // 2)))
        if turn and history.dated and chance.random() < 0.3:
            history.edit()
        key = chance.getrandbits(40)
        style = Style(guid=lambda item, k=key: f"{k:x}-{item.number}")  # type: ignore[misc]
        if shared:
            style.link = lambda item: "https://site1.test/news"
        history.answer(style)
    return history


def cut(chance: random.Random) -> History:
    """Some answers end early. A complete answer follows each."""
    history = begun(chance, fewest=3)
    if chance.random() < 0.5:
        history.style = Style(lines=lambda item: ["Second line", f"Third {word(item.number + 500)}"])
    history.answer()
    for _ in range(5):
        history.publish(chance.randrange(3))
        history.edit()
        if chance.random() < 0.7:
            whole = history.document()
            start = whole.find(b"<item>") if not history.is_json else whole.find(b"[") + 1
            history.answers.append(whole[: chance.randrange(start + 8, len(whole) - 20)])
        history.answer()
    return history


def backends(chance: random.Random) -> History:
    """Two servers disagree in a line of all entries (never news), or of one entry (at most one edit)."""
    history = begun(chance, fewest=5)
    one = chance.choice(history.items).number if chance.random() < 0.3 else None
    way = chance.choice(["line", "each", "prefix"])

    def lines(item: Item) -> list[str]:
        if one is not None and item.number != one:
            return ["A line that stays"]
        return ["A line that stays", f"Rendered anew {word(item.number)}" if way == "each" else "By our own staff"]

    other = Style(lines=lines)
    plain = Style(lines=lambda item: ["A line that stays"])
    if one is not None:
        revision = next(item for item in history.items if item.number == one)
        history.allowed.add(("updated", revision.name))
    for turn in range(10):
        random_face = turn > 4 and chance.random() < 0.3
        if turn in (3, 6) and history.window > 9:
            history.publish(1)
        history.answer(other if (turn % 2) ^ random_face else plain)
    return history


def rotating(chance: random.Random) -> History:
    """A sponsor's line: the same in all entries, or random for each; or a footer that changes once.

    A random line looks like an edit the first time.
    """
    history = begun(chance, fewest=3)
    pool = [f"Sponsor {word(n)} is the best of all" for n in range(900, 900 + chance.choice([2, 3, 6]))]
    way = chance.choice(["same", "endless", "drawn", "footer"])
    if way == "drawn":
        history = begun(chance, fewest=9)
        pool = pool[:3]
    for turn in range(8):
        if turn in (2, 5):
            history.publish(1)
        if turn == 4 and history.window > 3:
            history.edit()
        same = {
            "same": pool[turn % len(pool)],
            "endless": f"Sponsor {word(700 + turn)} is the best",
            "footer": pool[turn > 3],
        }.get(way, "")
        picks = {item.number: same or chance.choice(pool) for item in history.items}
        history.allowed |= {("updated", item.name) for item in history.items if way == "drawn"}
        history.answer(Style(lines=lambda item, p=picks: ["More words that stay", p[item.number]]))  # type: ignore[misc]
    return history


def counters(chance: random.Random) -> History:
    """Numbers next to stable words, in several languages."""
    history = begun(chance)
    form = chance.choice(
        ["{} posts - {} participants", "{} svar · {} visningar", "{} reads", "{} comments", "{} upvotes | {} downvotes"]
    )
    for turn in range(7):
        if turn in (2, 5):
            history.publish(1)
        if turn == 4 and history.window > 1:
            history.edit()
        figures = {item.number: (chance.randrange(1, 3000), chance.randrange(2, 90)) for item in history.items}
        history.answer(Style(lines=lambda item, f=figures: [form.format(*f[item.number])]))  # type: ignore[misc]
    return history


KINDS: dict[str, Callable[[random.Random], History]] = {
    kind.__name__: kind
    for kind in (
        ordinary,
        edited,
        status,
        turnover,
        moved,
        session,
        random_ids,
        cut,
        backends,
        rotating,
        counters,
    )
}


@dataclass
class Result:
    """The reports of a history, compared with the truth. resets: the difference in notices of a move."""

    expected: int = 0
    found: int = 0
    reported: int = 0
    false: int = 0
    resets: int = 0

    def __add__(self, other: Result) -> Result:
        return Result(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def recall(self) -> float:
        return self.found / self.expected if self.expected else 1.0

    @property
    def false_share(self) -> float:
        return self.false / self.reported if self.reported else 0.0


async def watched(kind: str, seed: int) -> Result:
    """Check each answer of a history as the service does."""
    history = KINDS[kind](random.Random(f"{kind} {seed}"))
    base, got, resets = b"", Counter[Report](), 0
    for number, body in enumerate(history.answers):
        at = NOW + number * HOUR
        fetched = FetchedResponse(
            url="https://site1.test/feed", status=200, headers={}, body=body, content_type="", etag=None,
            last_modified=None, max_age=None, elapsed_ms=1, wire_bytes=len(body), hops=(),
        )  # fmt: skip
        try:
            check = BodyCheck(a_source(1), base, fetched, Millis(at), Millis(at - HOUR), number + 1)
            reading = await FeedReader(2.0).read(InlineJail(), check)
        except CheckFailed:
            continue
        base = base if reading.base is None else reading.base
        for draft in reading.drafts:
            if draft.alert_type is not None:
                resets += 1
            elif RESET not in draft.tags:
                words = " ".join(draft.content.split()[1:3])
                got["new" if NEW in draft.tags else "updated", words] += 1
    found = sum((got & history.expected).values())
    extra = got - history.expected
    false = sum(count - (report in history.allowed) for report, count in extra.items())
    reported = sum(got.values())
    surplus = resets - history.moves if kind != "turnover" or history.dated else max(0, resets - 1)
    return Result(sum(history.expected.values()), found, reported, false, abs(surplus))
