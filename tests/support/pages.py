"""A page read in one step."""

from __future__ import annotations

from actors.content.pages.page import PageReading, blocks_in, open_page, reading_of


def read_page(body: bytes, content_type: str, url: str, selector: str | None, ignore: tuple[str, ...]) -> PageReading:
    """Read a page, narrowed to `selector` and without the matches of `ignore`. Raises ContentError."""
    opened = open_page(body, content_type, selector, ignore)
    return reading_of(opened.root, blocks_in(opened), narrowed=selector is not None)
