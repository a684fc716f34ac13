"""The practice documents by name: where they are, what they are at a step, and what a step has changed in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from actors.practice import feed, page

What = Literal["page", "feed"]
WHATS: tuple[What, ...] = get_args(What)
PATH = "/practice/"


class Document(NamedTuple):
    """How one of them is served. at: its bytes at a step. says: what that step has changed, for steps from 1 on."""

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
    """Return which document a practice source's URL is of."""
    return "feed" if url.endswith(PATH + "feed") else "page"
