"""The request to pick a part of a page. No parser is imported."""

from __future__ import annotations

from msgspec import Struct

from actors.picks import PickWish


class PickRequest(Struct, frozen=True):
    """Answered by a `PickPage`. url: the page's address after redirects."""

    body: bytes
    content_type: str
    url: str
    wish: PickWish = PickWish()
