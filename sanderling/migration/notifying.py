"""The notifications of other programs, as destinations of ours: webhooks, that is. Pure.

Apprise writes each service as a URL with a scheme of its own; those that post to a web address can be kept. The message
is another one: the event as JSON, signed, instead of a text.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from sanderling.migration.drafting import Drafting
from sanderling.migration.plan import DestinationBody

POSTING: Final = {"json": "http", "jsons": "https", "post": "http", "posts": "https", "http": "http", "https": "https"}
"""Schemes that post to an address, and that of the address."""
OTHER_BODY: Final = ("form", "forms", "xml", "xmls", "get", "gets", "put", "puts", "patch", "delete", "deletes")
WHAT: Final = "notification"
_SIGNED: Final = "posts the event as signed JSON, where it posted a message"


def destination(drafting: Drafting, place: str, address: str) -> DestinationBody | None:
    """Return the destination that an address of Apprise is; None when there is none, which is noted.

    What is said of it never shows more than its scheme and host: the rest may be a secret.
    """
    try:
        parts = urlsplit(address.strip())
        scheme, host = parts.scheme.lower(), parts.hostname or ""
    except ValueError:
        drafting.note(place, WHAT, "impossible", "an address that can't be read")
        return None
    if scheme not in POSTING:
        other = "it expects another body" if scheme in OTHER_BODY else "it is no webhook"
        drafting.note(place, WHAT, "impossible", f"{scheme[:20] or 'no'}://: {other}: put a receiver before it")
        return None
    if "@" in parts.netloc:
        says = f"{scheme}://{host[:80]}: it needs a user and a password, which a destination has none of"
        drafting.note(place, WHAT, "impossible", says)
        return None
    if "{{" in address or "{%" in address:
        drafting.note(place, WHAT, "impossible", f"{scheme}://: its address is made anew for each message")
        return None
    query = "&".join(_kept(scheme, parts.query))
    try:
        url = parse_url(f"{POSTING[scheme]}://{parts.netloc}{parts.path}{'?' + query if query else ''}")
    except UrlRefused as error:
        drafting.note(place, WHAT, "impossible", f"{scheme}://{host[:80]}: {error}")
        return None
    drafting.note(place, WHAT, "approximated", f"{url.scheme}://{url.host}: {_differs(url.secure, parts.query)}")
    return DestinationBody(url.text)


def _kept(scheme: str, query: str) -> list[str]:
    """Return the parameters that are the receiver's own, as opposed to those by which Apprise is told what to do."""
    parts = [part for part in query.split("&") if part]
    if scheme in ("json", "jsons"):
        return [part[1:] for part in parts if part.startswith("-")]
    return [part for part in parts if not part.startswith(("+", "-", ":", "%2B", "%2b"))]


def _differs(secure: bool, query: str) -> str:
    parts = [_SIGNED]
    if any(part.startswith(("+", "%2B", "%2b")) for part in query.split("&")):
        parts.append("without the headers it sent")
    if not secure:
        parts.append("without TLS, so only if the setting allow_deliver_networks opens its network")
    return "; ".join(parts)
