"""Feeds in three formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

from sanderling.simulation.origins.server import Origin
from sanderling.simulation.origins.texts import EPOCH, link, published, sentence, stamp, title
from sanderling.simulation.program import OriginPlan, Text
from sanderling.simulation.serving import Answer, Request
from storage.records.identity import Millis
from storage.records.times import rfc3339


@dataclass(slots=True)
class FeedOrigin(Origin):
    """A feed that keeps its newest entries."""

    plan: OriginPlan = field(kw_only=True)
    garbles = True

    def answer(self, request: Request) -> Answer:
        """Answer with the feed as it is now, or 304."""
        out = published(self.plan.texts)
        version = f'"{len(out)}"'
        changed = formatdate(EPOCH + (out[-1].at if out else 0.0), usegmt=True)
        headers = {}
        if self.plan.validators != "modified":
            headers["etag"] = version
        if self.plan.validators != "etag":
            headers["last-modified"] = changed
        if request.headers.get("if-none-match") == version or (
            "etag" not in headers and request.headers.get("if-modified-since") == changed
        ):
            return Answer(304, headers=headers)
        first = max(0, len(out) - self.plan.window)
        shown = [(number, out[number]) for number in range(len(out) - 1, first - 1, -1)]
        kind, body = _FEEDS[self.plan.style](self.plan, shown)
        return Answer(200, body.encode(), {"content-type": kind, **headers})


_Shown = Sequence[tuple[int, Text]]


def _rss(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    items = "".join(
        f"<item><title>{title(plan, n)}</title><link>{link(plan, n)}</link><guid>{link(plan, n)}</guid>"
        f"<pubDate>{formatdate(EPOCH + text.at, usegmt=True)}</pubDate>"
        f"<description>{escape(sentence(text))}</description></item>"
        for n, text in shown
    )
    head = f"<title>{plan.host}</title><link>https://{plan.host}/</link><description>All of it</description>"
    return "application/rss+xml", f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'


def _atom(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    entries = "".join(
        f"<entry><title>{title(plan, n)}</title><id>{link(plan, n)}</id><link href='{link(plan, n)}'/>"
        f"<updated>{stamp(text)}</updated><summary>{escape(sentence(text))}</summary></entry>"
        for n, text in shown
    )
    newest = stamp(shown[0][1]) if shown else rfc3339(Millis(int(EPOCH * 1000)))
    head = f"<title>{plan.host}</title><id>https://{plan.host}/</id><updated>{newest}</updated>"
    return "application/atom+xml", f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{entries}</feed>'


def _json(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    items = [
        {
            "id": link(plan, n),
            "url": link(plan, n),
            "title": title(plan, n),
            "content_text": sentence(text),
            "date_published": stamp(text),
        }
        for n, text in shown
    ]
    document = {"version": "https://jsonfeed.org/version/1.1", "title": plan.host, "items": items}
    return "application/feed+json", json.dumps(document)


_FEEDS = {"rss": _rss, "atom": _atom, "json": _json}
