"""The worker's cost of a changed page, and of a changed feed.

The pages come from the shared material if present, else one is generated.
"""

from __future__ import annotations

import gc
import io
import json
import re
import statistics
import tarfile
import time
from collections.abc import Callable, Iterator
from functools import partial

import feedparser
from lxml import etree

from actors.content.feeds import read_feed
from actors.content.messages import PageRequest
from actors.content.tasks import look_page
from bench.topic import MATERIAL, Figure, Row, Topic, size

FOLDER = MATERIAL / "pages"
PAGES = size(15, 0)
SMALLEST, LARGEST = 80_000, 140_000
ROUNDS = size(5, 1)
URL = "https://shore.example/"
TOPIC = Topic(
    "A changed page",
    "CPU in the worker, the best of five, medians over 15 pages of 80 to 140 kB; the limit is lxml's parse of the same "
    "bytes.",
    ("actors/content",),
    {
        "changed": Figure("a changed page: read, judged, remembered", "ms", "<= 8 ms, <= 4 x parse"),
        "same": Figure("the same text in other bytes: scripts and comments differ", "ms", "<= 2 ms"),
        "feed": Figure("a feed of 60 entries, one of them new", "ms", "<= 0.5 x feedparser"),
    },
)
_CODE = re.compile(rb"(<script[^>]*>)(?=[^<{])")


def made_pair() -> tuple[bytes, bytes]:
    """Return a page of 100 kB, two fifths of it text like the real ones, and the same page with an added paragraph."""
    row = (
        '<div class="row item-{n}" data-id="{n}" style="margin:0"><a class="link" href="/birds/{n}">Bird {n}</a>'
        "<p>Seen {n} times along the tide line, running with the foam and picking up what each wave uncovers.</p></div>"
    )
    rows = [row.format(n=n) for n in range(420)]
    page = "<!DOCTYPE html><html><head><title>Birds</title></head><body><main><h1>Birds</h1>{}</main></body></html>"
    added = "<p>A new tide table for the coming winter has been published and replaces the one that was wrong.</p>"
    return page.format("".join(rows)).encode(), page.format(added + "".join(rows)).encode()


def real_pairs() -> list[tuple[bytes, bytes]]:
    """Return pairs labelled as real changes, before and after; [] without the material."""
    if not (FOLDER / "manifest.jsonl").exists() or not PAGES:
        return []
    lines = [json.loads(line) for line in (FOLDER / "manifest.jsonl").read_text("utf-8").splitlines()]
    told = [line for line in lines if line["label"] == "real" and line["labelled"] == "read"]
    pairs = [(line["before"], line["after"]) for line in told]
    wanted = {name for pair in pairs for name in pair}
    bodies: dict[str, bytes] = {}
    with tarfile.open(FOLDER / "pages.tar.xz", "r|xz") as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            if name in wanted and SMALLEST <= member.size <= LARGEST and (handle := archive.extractfile(member)):
                bodies[name] = handle.read()
    return [(bodies[a], bodies[b]) for a, b in pairs if a in bodies and b in bodies]


def same_text(page: bytes, minute: int) -> bytes:
    """Return the page with a comment and code that name the time: other bytes in each minute, same text."""
    coded = _CODE.sub(rb"\1let seen = %d;" % minute, page)
    return coded.replace(b"<body", b"<!-- made at 12:%d --><body" % minute, 1)


def milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def rows() -> Iterator[Row]:
    pairs = real_pairs()
    pairs = pairs[:: max(1, len(pairs) // max(1, PAGES))][:PAGES] or [made_pair()]
    works = [work for before, after in pairs for work in works_of(before, after)]
    gc.freeze()  # as in a worker
    # In turns: a worker seldom checks the same page twice in a row.
    least = [min(times) for times in zip(*([milliseconds(work) for work in works] for _ in range(ROUNDS)), strict=True)]
    parse, same, ours = (statistics.median(least[n::3]) for n in range(3))
    yield Row("changed", ours, parse, f"{len(pairs)} pages")
    yield Row("same", same, parse)
    bare, feed = (statistics.median(times) for times in zip(*(feed_times(n) for n in range(10 * ROUNDS)), strict=True))
    yield Row("feed", feed, bare)


def feed_times(number: int) -> tuple[float, float]:
    """Return feedparser's time for a feed with its next entry, and ours."""
    what = "The north beach is where most of the small waders feed while the tide goes out, day after day. " * 2
    item = "<item><title>Note {n}</title><guid>{n}</guid><description>{what}</description></item>"
    items = "".join(item.format(n=n, what=what) for n in range(number + 60, number, -1))
    body = f'<rss version="2.0"><channel><title>Notes</title>{items}</channel></rss>'.encode()
    if not number:
        read_feed(body, "", URL)
    return milliseconds(lambda: feedparser.parse(io.BytesIO(body))), milliseconds(lambda: read_feed(body, "", URL))


def works_of(before: bytes, after: bytes) -> Iterator[Callable[[], object]]:
    """Yield the parse of a page, the check of its text in other bytes, and the check of a change."""
    yield lambda: etree.HTML(after.decode("utf-8", "replace"))
    for first, second in ((same_text(before, 10), same_text(before, 11)), (before, after)):
        look = look_page(PageRequest(first, "text/html", URL, number=1))
        yield partial(look_page, PageRequest(second, "text/html", URL, memory=look.memory, number=2, last=look.digests))
