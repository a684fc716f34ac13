"""Sources whose type has changed: a feed that is now a login page, a page that is now a PDF or a feed.

Such a source yields nothing more and does not recover, unlike a challenge, a queue or an error page.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from actors.content.messages.readings import FORMATS, Finding, is_same
from actors.content.messages.requests import BodyRequest
from actors.egress.failures import Blame, LookFailed
from actors.egress.http import FetchedResponse
from actors.sources.looks.reading import in_jail
from actors.world import Jail

_HEAD: Final = 4096
_OTHER: Final = re.compile(rb"^[\s\x00\xef\xbb\xbf\xfe\xff]*[{\[]|<(?:rss|feed|rdf:RDF)[\s>]")
"""JSON and feeds, near their beginning."""


def may_be_no_page(body: bytes) -> bool:
    """Return whether a body may be a feed or JSON, which the page reader would accept as a page."""
    return _OTHER.search(body, 0, _HEAD) is not None


async def loss(
    jail: Jail, fetched: FetchedResponse, was: Literal["feed", "html"], format: str = "html"
) -> LookFailed | None:
    """Return the failed check for a body that is no longer a feed, or a page; None if it still is, or can't be
    decided. `format`: the page's original one. Raises LookFailed.
    """
    if not fetched.body.strip():
        return None
    request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
    found = msgspec.msgpack.decode(await in_jail(jail, "detect", msgspec.msgpack.encode(request)), type=Finding)
    noun = "feed" if was == "feed" else FORMATS.get(format, "page")
    if found.trouble is not None:
        if was == "html" and format not in FORMATS:
            return None  # its own reader knows more
        if found.trouble.kind != "login":
            return LookFailed(Blame.CONTENT, f"not the {noun} itself: {found.trouble}", status=fetched.status)
    is_still = found.type == was and (was == "feed" or is_same(found.format, format))
    if is_still or (was == "feed" and found.is_broken_feed):
        return None
    other = f"a {found.trouble}" if found.trouble else "neither a feed nor a page"
    is_page = found.type == "html" and found.format not in FORMATS
    now = "a feed" if found.type == "feed" else "a page" if is_page else other
    why = f"type lost: this was a {noun} and is now {now} ({found.evidence})"
    return LookFailed(Blame.REMOTE_PERMANENT, why, status=fetched.status)
