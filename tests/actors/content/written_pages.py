from __future__ import annotations

from collections.abc import Sequence

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory
from actors.content.changes.swaps import CheckMoment
from actors.content.pages.page import PageReading
from tests.support.pages import read_page

URL = "https://shore.example/page"
PROSE = (
    "The sanderling runs along the tide line and picks up what each wave uncovers, all winter long.",
    "It breeds in the high Arctic and flies some ten thousand kilometres to reach its southern beaches.",
    "A flock moves like one bird, turning with the foam so that no foot gets wet for more than a moment.",
    "Ringed birds have been seen on the same stretch of sand for eleven winters in a row.",
    "Counting them is easy at high tide, when they stand close together and wait for the water to fall.",
)


def html(*blocks: str, title: str = "The shore", head: str = "", around: str = "{}") -> bytes:
    """Return a page with the blocks in its main element. around: mark-up around that element."""
    inner = "".join(block if block.startswith("<") else f"<p>{block}</p>" for block in blocks)
    body = around.format(f"<main><h1>{title}</h1>{inner}</main>")
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


def reading(page: bytes, selector: str | None = None, ignore: tuple[str, ...] = ()) -> PageReading:
    return read_page(page, "text/html; charset=utf-8", URL, selector, ignore)


def look(memory: PageMemory | None, *blocks: str, number: int = 0, at: int = 0) -> ChangeVerdict:
    """Judge a page of these blocks, by default PROSE. number, at: the check's number and moment, 0 for unknown."""
    return judge(memory, reading(html(*(blocks or PROSE))), when=CheckMoment(number, at))


def looks(memory: PageMemory | None, *pages: Sequence[str]) -> list[ChangeVerdict]:
    """Judge pages in order, each given as its blocks."""
    verdicts: list[ChangeVerdict] = []
    for blocks in pages:
        verdicts.append(look(verdicts[-1].memory if verdicts else memory, *blocks))
    return verdicts
