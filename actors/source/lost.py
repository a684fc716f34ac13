"""Sources that have become something else: a feed that is now a login page, a page that is now a PDF or a feed.

Such a source yields nothing any more and does not mend by itself, unlike one behind a challenge, a queue or an error
page, which goes away.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from actors.content.detection import Finding
from actors.content.requests import DetectRequest
from actors.egress.failures import Blame, LookFailed
from actors.egress.http import Fetched
from actors.source.tier import in_jail
from actors.world import Jail

_HEAD: Final = 4096
_OTHER: Final = re.compile(rb"^[\s\x00\xef\xbb\xbf\xfe\xff]*[{\[]|<(?:rss|feed|rdf:RDF)[\s>]")
"""What JSON and feeds look like near their beginning."""


def may_be_no_page(body: bytes) -> bool:
    """Return whether a body may be a feed or JSON, which the reader of pages would take for a page."""
    return _OTHER.search(body, 0, _HEAD) is not None


async def loss(jail: Jail, fetched: Fetched, was: Literal["feed", "html"]) -> LookFailed | None:
    """Return the failed look that a body is which is no feed, or no page, any more; None when it still is one, or
    nobody can tell. Raises LookFailed.
    """
    if not fetched.body.strip():
        return None
    request = DetectRequest(fetched.body, fetched.content_type, fetched.url)
    found = msgspec.msgpack.decode(await in_jail(jail, "detect", msgspec.msgpack.encode(request)), type=Finding)
    noun = "feed" if was == "feed" else "page"
    if found.trouble is not None:
        if was == "html":
            return None  # its own reader knows more
        if not found.trouble.startswith("login"):
            return LookFailed(Blame.CONTENT, f"not the feed itself: {found.trouble}", status=fetched.status)
    if found.type == was or (found.type is None and found.format == "" and _still(found, was)):
        return None
    other = f"a {found.trouble}" if found.trouble else "neither a feed nor a page"
    now = {"feed": "a feed", "html": "a page", None: other}[found.type]
    why = f"type lost: this was a {noun} and is now {now} ({found.evidence})"
    return LookFailed(Blame.REMOTE_PERMANENT, why, status=fetched.status)


def _still(found: Finding, was: Literal["feed", "html"]) -> bool:
    """Return whether what is refused is a damaged feed still."""
    return was == "feed" and found.evidence.startswith(("root element <rss", "root element <feed", "root element <rdf"))
