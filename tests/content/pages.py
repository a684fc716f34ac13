"""Pages for tests: a document around some blocks."""

from __future__ import annotations

from actors.content.churn import Verdict, judge
from actors.content.memory import PageMemory
from actors.content.pages import PageReading, read_page

URL = "https://shore.example/page"
PROSE = (
    "The sanderling runs along the tide line and picks up what each wave uncovers, all winter long.",
    "It breeds in the high Arctic and flies some ten thousand kilometres to reach its southern beaches.",
    "A flock moves like one bird, turning with the foam so that no foot gets wet for more than a moment.",
    "Ringed birds have been seen on the same stretch of sand for eleven winters in a row.",
    "Counting them is easy at high tide, when they stand close together and wait for the water to fall.",
)


def html(*blocks: str, title: str = "The shore", head: str = "", around: str = "{}") -> bytes:
    """Return a page whose main element holds the paragraphs; `around` may put them inside of other mark-up."""
    inner = "".join(block if block.startswith("<") else f"<p>{block}</p>" for block in blocks)
    body = around.format(f"<main><h1>{title}</h1>{inner}</main>")
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


def reading(page: bytes, selector: str | None = None, ignore: tuple[str, ...] = ()) -> PageReading:
    """Return the reading of a page."""
    return read_page(page, "text/html; charset=utf-8", URL, selector, ignore)


def look(memory: PageMemory | None, *blocks: str) -> Verdict:
    """Judge a page that holds the usual prose unless blocks are given."""
    return judge(memory, reading(html(*(blocks or PROSE))))
