"""Other programs' notifications as destinations: chats, phones, mail, webhooks. Pure.

Apprise has a URL scheme for each service (`apprise.py`); schemes that post to a web address become webhooks. Their
message changes: signed JSON of the event instead of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from extras.migrate.apprise import SCHEMES, Reached, reached
from extras.migrate.drafting import Drafting
from extras.migrate.plan import DestinationBody

POSTING: Final = {"json": "http", "jsons": "https", "post": "http", "posts": "https", "http": "http", "https": "https"}
"""Schemes that post to an address, with the address's scheme."""
OTHER_BODY: Final = ("form", "forms", "xml", "xmls", "get", "gets", "put", "puts", "patch", "delete", "deletes")
WHAT: Final = "notification"
_SIGNED: Final = "posts the event as signed JSON, where it posted a message"
NATIVE: Final = {
    "hooks.slack.com": "slack",
    "discord.com": "discord",
    "discordapp.com": "discord",
    "chat.googleapis.com": "google-chat",
    "open.larksuite.com": "lark",
    "open.feishu.cn": "lark",
    "oapi.dingtalk.com": "dingtalk",
    "qyapi.weixin.qq.com": "wecom",
}
"""Hosts whose webhooks Apprise accepts by their own address."""


def destinations(drafting: Drafting, place: str, address: str) -> Sequence[DestinationBody]:
    """Return the destinations of an Apprise address; if there are none, note why.

    Notes show at most its scheme and host: the rest may be secret.
    """
    address = address.strip()
    scheme = address.partition("://")[0].lower()
    try:
        parts = SplitResult(scheme, "", "", "", "") if scheme == "tgram" else urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        drafting.note(place, WHAT, "impossible", "an address that can't be read")
        return ()
    if "{{" in address or "{%" in address:
        drafting.note(place, WHAT, "impossible", f"{scheme[:20]}://: its address is made anew for each message")
        return ()
    if scheme in SCHEMES:
        return people(drafting, place, f"{scheme}://", reached(parts, address))
    if scheme == "https" and host in NATIVE:
        return people(drafting, place, f"{scheme}://", (Reached(NATIVE[host], address, {}),))
    found = _webhook(drafting, place, parts)
    return () if found is None else (found,)


def posted(drafting: Drafting, place: str, address: str) -> Sequence[DestinationBody]:
    """Return the webhook for an HTTP address; if there is none, note why."""
    try:
        found = _webhook(drafting, place, urlsplit(address))
    except ValueError:
        drafting.note(place, WHAT, "impossible", "an address that can't be read")
        return ()
    return () if found is None else (found,)


def people(drafting: Drafting, place: str, called: str, found: Sequence[Reached]) -> Sequence[DestinationBody]:
    """Return destinations that reach people. called: their name in notes, without secrets."""
    if not found:
        says = f"{called}: of a form that is not known here; see the kinds of destinations for what it needs"
        drafting.note(place, WHAT, "impossible", says)
    for one in found:
        mail = (
            "; the address is asked first, and the mail server is that of the settings" if one.kind == "email" else ""
        )
        drafting.note(place, WHAT, "approximated", f"{called}: {one.kind}, with a text of ours{mail}")
    return [DestinationBody(one.url or None, _label(one), one.kind, tuple(one.options.items())) for one in found]


def _label(one: Reached) -> str:
    """Return a name derived from the content alone, so that a repeated import finds the destination."""
    mark = sha256(msgspec.json.encode(one, order="deterministic")).hexdigest()[:8]
    return one.url if one.kind == "email" else f"{one.kind} [{mark}]"


def _webhook(drafting: Drafting, place: str, parts: SplitResult) -> DestinationBody | None:
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    if scheme not in POSTING:
        other = "it expects another body" if scheme in OTHER_BODY else "there is no such kind of destination"
        drafting.note(place, WHAT, "impossible", f"{scheme[:20] or 'no'}://: {other}: put a receiver before it")
        return None
    access, _, place_of_it = parts.netloc.rpartition("@")
    query = "&".join(_kept(scheme, parts.query))
    try:
        url = parse_url(f"{POSTING[scheme]}://{place_of_it}{parts.path}{'?' + query if query else ''}")
    except UrlRefused as error:
        drafting.note(place, WHAT, "impossible", f"{scheme}://{host[:80]}: {error}")
        return None
    user, _, password = access.partition(":")
    names = {"username": unquote(user), "password": unquote(password)} if access else {}
    headers = {"headers": "\n".join(_headers(parts.query))} if scheme not in ("http", "https") else {}
    options = tuple((name, value) for name, value in (names | headers).items() if value)
    drafting.note(place, WHAT, "approximated", f"{url.scheme}://{url.host}: {_differs(url.secure)}")
    return DestinationBody(url.text, options=options)


def _kept(scheme: str, query: str) -> list[str]:
    """Return the receiver's own parameters, without those that instruct Apprise."""
    parts = [part for part in query.split("&") if part]
    if scheme in ("json", "jsons"):
        return [part[1:] for part in parts if part.startswith("-")]
    return [part for part in parts if not part.startswith(("+", "-", ":", "%2B", "%2b"))]


def _headers(query: str) -> list[str]:
    """Return the headers in an address's query (`+X-Key=value`), one per line."""
    marked = [
        part.removeprefix("+") for part in query.replace("%2B", "+").replace("%2b", "+").split("&") if part[:1] == "+"
    ]
    pairs = (unquote(part).partition("=") for part in marked)
    return [f"{name}: {value}" for name, _, value in pairs if name and value]


def _differs(secure: bool) -> str:
    parts = [_SIGNED]
    if not secure:
        parts.append("without TLS, so only if the setting allow_deliver_networks opens its network")
    return "; ".join(parts)
