"""Feeds in three formats, three charsets and with every bad habit that is no change."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

import trio
from msgspec import Struct

from tests.simulation.origins.texts import EPOCH, link, published, saying, stamp, title
from tests.simulation.program import OriginPlan, Text
from tests.simulation.serving import Answer, Request


class Item(Struct, frozen=True):
    """An entry as it is shown now."""

    key: str
    link: str
    title: str
    content: str
    at: float
    stamp: str


@dataclass(slots=True)
class Feed:
    """A feed that keeps its newest entries. `dice` shuffles and re-dates them, depending on its manners."""

    plan: OriginPlan
    dice: random.Random
    versioned: bool = field(init=False)

    def __post_init__(self) -> None:
        """Set whether requests for it can be conditional."""
        self.versioned = self.plan.validators != "none"

    def answer(self, request: Request) -> Answer:
        """Answer with the feed as it is now, or 304."""
        version, changed = self._version()
        headers = {}
        if self.plan.validators in ("etag", "both"):
            headers["etag"] = version
        if self.plan.validators in ("modified", "both"):
            headers["last-modified"] = changed
        asked = request.headers
        same = asked["if-none-match"] == version if "if-none-match" in asked else _since(asked) == changed
        if headers and same:
            return Answer(304, headers=headers)
        kind, text = _FORMATS[self.plan.style](self.plan, self._items())
        return self._sent(kind, text, headers)

    def _sent(self, kind: str, text: str, headers: dict[str, str]) -> Answer:
        manners = self.plan.manners
        body = text.encode(manners.charset)
        headers["content-type"] = manners.content_type or kind
        if manners.zipped:
            body = gzip.compress(body, mtime=0)
            headers["content-encoding"] = "gzip"
        return Answer(200, body, headers)

    def _version(self) -> tuple[str, str]:
        """Return the ETag of the present state, and its Last-Modified."""
        now = trio.current_time()
        moments = [
            moment for text in self.plan.texts for moment in (text.at, text.revised_at, *text.away) if moment <= now
        ]
        if self.plan.manners.resets_at <= now:
            moments.append(self.plan.manners.resets_at)
        newest = max(moments, default=0.0)
        # A whole second later: Last-Modified has no fractions, and changes within its second must differ too.
        return f'"{self.plan.name}-{len(moments)}"', formatdate(EPOCH + len(moments) + newest, usegmt=True)

    def _items(self) -> list[Item]:
        now, manners = trio.current_time(), self.plan.manners
        out = published(self.plan.texts)
        newest = range(len(out) - 1, max(0, len(out) - self.plan.window) - 1, -1)
        moved = "moved/" if manners.resets_at <= now else ""
        items = [self._item(n, out[n], now, moved) for n in newest if not out[n].away[0] <= now < out[n].away[1]]
        if "shuffle" in manners.churn:
            self.dice.shuffle(items)
        return items

    def _item(self, number: int, text: Text, now: float, moved: str) -> Item:
        revised = text.revised_at <= now
        where = link(self.plan, number) + (f"?{moved}" if moved else "")
        at = text.at + (self.dice.randint(0, 50) if "redate" in self.plan.manners.churn else 0)
        return Item(
            key=f"{moved}{where}",
            link=where,
            title=title(self.plan, number) + (" (revised)" if revised else ""),
            content=saying(self.plan, number, text.revision if revised else text.words),
            at=EPOCH + at,
            stamp=stamp(Text(at, ())),
        )


def _since(headers: object) -> str:
    return headers.get("if-modified-since", "") if isinstance(headers, dict) else ""


def _rss(plan: OriginPlan, items: Sequence[Item]) -> tuple[str, str]:
    shown = "".join(
        f"<item><title>{item.title}</title><link>{escape(item.link)}</link><guid>{escape(item.key)}</guid>"
        f"<pubDate>{formatdate(item.at, usegmt=True)}</pubDate><description>{escape(item.content)}</description></item>"
        for item in items
    )
    built = f"<lastBuildDate>{_now()}</lastBuildDate>" if "stamp" in plan.manners.churn else ""
    head = f"<title>{plan.host}</title><link>https://{plan.host}/</link><description>All of it</description>{built}"
    return (
        "application/rss+xml",
        f'<?xml version="1.0" encoding="{plan.manners.charset}"?>'
        f'<rss version="2.0"><channel>{head}{shown}</channel></rss>',
    )


def _atom(plan: OriginPlan, items: Sequence[Item]) -> tuple[str, str]:
    shown = "".join(
        f"<entry><title>{item.title}</title><id>{escape(item.key)}</id><link href='{escape(item.link)}'/>"
        f"<updated>{item.stamp}</updated><summary>{escape(item.content)}</summary></entry>"
        for item in items
    )
    newest = max((item.stamp for item in items), default=stamp(Text(0.0, ())))
    built = f"<generator>at {_now()}</generator>" if "stamp" in plan.manners.churn else ""
    head = f"<title>{plan.host}</title><id>https://{plan.host}/</id><updated>{newest}</updated>{built}"
    return (
        "application/atom+xml",
        f'<?xml version="1.0" encoding="{plan.manners.charset}"?>'
        f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{shown}</feed>',
    )


def _json(plan: OriginPlan, items: Sequence[Item]) -> tuple[str, str]:
    shown = [
        {
            "id": item.key,
            "url": item.link,
            "title": item.title,
            "content_text": item.content,
            "date_published": item.stamp,
        }
        for item in items
    ]
    document = {"version": "https://jsonfeed.org/version/1.1", "title": plan.host, "items": shown}
    if "stamp" in plan.manners.churn:
        document["_served"] = _now()
    return "application/feed+json", json.dumps(document)


def _now() -> str:
    return formatdate(EPOCH + trio.current_time(), usegmt=True)


_FORMATS: dict[str, Callable[[OriginPlan, Sequence[Item]], tuple[str, str]]] = {
    "rss": _rss,
    "atom": _atom,
    "json": _json,
}
