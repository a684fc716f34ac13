"""The practice documents by name: their addresses, their content at a step, and the text about a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from actors.practice import feed, page

What = Literal["page", "feed"]
WHATS: tuple[What, ...] = get_args(What)
PATH = "/practice/"


class Document(NamedTuple):
    """One practice document. at: its bytes at a step. says: that step's change, for steps from 1 on."""

    media: str
    at: Callable[[int], bytes]
    says: Callable[[int], str]


DOCUMENTS: dict[What, Document] = {
    "page": Document("text/html; charset=utf-8", page.at, page.says),
    "feed": Document("application/rss+xml; charset=utf-8", feed.at, feed.says),
}


def address(base_url: str, what: What) -> str:
    """Return the URL of a document of the service at `base_url`.

    >>> address("https://shore.example", "page")
    'https://shore.example/practice/page'
    """
    return base_url + PATH + what


def named(url: str) -> What:
    """Return the document of a practice source's URL."""
    return "feed" if url.endswith(PATH + "feed") else "page"
