"""Notification addresses of other programs (Apprise's URLs) as destinations. Pure.

Apprise has a URL scheme for each service; schemes that post to a web address become webhooks. Their
message changes: signed JSON of the event instead of a text.

Apprise documents each scheme: https://github.com/caronc/apprise/wiki. An address of unknown form is dropped, rather
than notify the wrong people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlencode, urlsplit

import msgspec

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from extras.migrate.drafting import DestinationBody, Drafting

_TELEGRAM: Final = re.compile(r"\d+:[\w-]+")
Options = dict[str, str]


class Recipient(NamedTuple):
    """The recipient of an address: a kind, its address ("" for the kind's own), and its options."""

    kind: str
    url: str
    options: Options


class _Parts(NamedTuple):
    """The parts of an Apprise address: names decoded; `base` is scheme, host and port as HTTP writes them."""

    scheme: str
    user: str
    password: str
    host: str
    base: str
    path: tuple[str, ...]
    query: Mapping[str, list[str]]


def reached(parts: SplitResult, text: str) -> tuple[Recipient, ...]:
    """Return the recipients of an address; none for an unknown form."""
    scheme = parts.scheme.lower()
    read = _READ.get(scheme)
    if read is None:
        return ()
    if scheme == "tgram":
        return tuple(_telegram(text))
    secure = scheme.endswith("s")
    base = f"{'https' if secure else 'http'}://{parts.netloc.rpartition('@')[2]}"
    path = tuple(unquote(part) for part in parts.path.split("/") if part)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    host = parts.netloc.rpartition("@")[2]  # unnormalized: it may be a case-sensitive token
    query = {name.lower(): values for name, values in parse_qs(parts.query).items()}
    return tuple(read(_Parts(scheme, user, password, host, base, path, query)))


def _telegram(text: str) -> Iterator[Recipient]:
    """Parse `tgram://123:token/chat1/chat2`, which no URL parser handles."""
    token, *chats = (unquote(part) for part in text.partition("://")[2].partition("?")[0].split("/") if part)
    if _TELEGRAM.fullmatch(token):
        for chat in chats:
            group, _, thread = chat.partition(":")
            yield Recipient("telegram", "", {"token": token, "chat": group} | ({"thread": thread} if thread else {}))


def _slack(at: _Parts) -> Iterator[Recipient]:
    tokens = (at.host, *at.path[:2])
    if len(tokens) == 3 and tokens[0][:1] in "TE":
        yield Recipient("slack", "https://hooks.slack.com/services/" + "/".join(tokens), {})


def _discord(at: _Parts) -> Iterator[Recipient]:
    if at.path and at.host.isdigit():
        yield Recipient("discord", f"https://discord.com/api/webhooks/{at.host}/{quote(at.path[0])}", {})


def _workflow(at: _Parts) -> Iterator[Recipient]:
    if len(at.path) == 2:
        query = {"api-version": "2016-06-01", "sp": "/triggers/manual/run", "sv": "1.0", "sig": at.path[1]}
        host = at.host.removesuffix(":443")
        url = f"https://{host}/workflows/{quote(at.path[0])}/triggers/manual/paths/invoke?{urlencode(query)}"
        yield Recipient("teams", url, {})


def _google_chat(at: _Parts) -> Iterator[Recipient]:
    if len(at.path) == 2:
        query = urlencode({"key": at.path[0], "token": at.path[1]})
        yield Recipient("google-chat", f"https://chat.googleapis.com/v1/spaces/{at.host}/messages?{query}", {})


def _mattermost(at: _Parts) -> Iterator[Recipient]:
    if at.path:
        yield Recipient("mattermost", f"{at.base}/{'/'.join((*at.path[:-1], 'hooks', at.path[-1]))}", {})


def _matrix(at: _Parts) -> Iterator[Recipient]:
    if at.user and not at.password:
        for room in at.path:
            if room.startswith("!"):
                yield Recipient("matrix", at.base, {"token": at.user, "room": room})


def _ntfy(at: _Parts) -> Iterator[Recipient]:
    if at.password or (at.user and not at.user.startswith("tk_")):
        return
    token = {"token": at.user} if at.user else {}
    if not at.path:
        yield Recipient("ntfy", "", {"topic": at.host} | token)
    for topic in at.path:
        yield Recipient("ntfy", at.base, {"topic": topic} | token)


def _gotify(at: _Parts) -> Iterator[Recipient]:
    if at.path:
        yield Recipient("gotify", "/".join((at.base, *at.path[:-1])), {"token": at.path[-1]})


def _pushover(at: _Parts) -> Iterator[Recipient]:
    if at.user and at.host:
        yield Recipient("pushover", "", {"user": at.user, "token": at.host})


def _home_assistant(at: _Parts) -> Iterator[Recipient]:
    if at.path and not at.user:
        options = {"token": at.path[-1], "service": "persistent_notification"}
        yield Recipient("home-assistant", "/".join((at.base, *at.path[:-1])), options)


def _mail(at: _Parts) -> Iterator[Recipient]:
    domain = at.host.partition(":")[0]
    given = [address for value in at.query.get("to", []) for address in value.split(",")]
    own = at.user if "@" in at.user else f"{at.user}@{domain}" if at.user else ""
    for address in given or [part for part in at.path if "@" in part] or [own]:
        if "@" in address:
            yield Recipient("email", address.strip(), {})


_BOTH: Final[Mapping[str, Callable[[_Parts], Iterator[Recipient]]]] = {
    "workflow": _workflow,
    "mmost": _mattermost,
    "matrix": _matrix,
    "ntfy": _ntfy,
    "gotify": _gotify,
    "hassio": _home_assistant,
    "mailto": _mail,
}  # also with an s at the end
_READ: Final[Mapping[str, Callable[[_Parts], Iterator[Recipient]]]] = {
    **{f"{scheme}{end}": read for scheme, read in _BOTH.items() for end in ("", "s")},
    "slack": _slack,
    "discord": _discord,
    "gchat": _google_chat,
    "pover": _pushover,
    "tgram": lambda at: iter(()),
}
SCHEMES: Final = frozenset(_READ)

POSTING: Final = {"json": "http", "jsons": "https", "post": "http", "posts": "https", "http": "http", "https": "https"}
"""Schemes that post to an address, with the address's scheme."""
OTHER_BODY: Final = ("form", "forms", "xml", "xmls", "get", "gets", "put", "puts", "patch", "delete", "deletes")
WHAT: Final = "notification"
_SIGNED: Final = "posts the event as signed JSON instead of a message"
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
    """Return the destinations of an Apprise address, or note why none, with its host at most: the rest is secret."""
    address = address.strip()
    scheme = address.partition("://")[0].lower()
    try:
        parts = SplitResult(scheme, "", "", "", "") if scheme == "tgram" else urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        drafting.note(place, WHAT, "impossible", "an address that can't be read")
        return ()
    if "{{" in address or "{%" in address:
        drafting.note(place, WHAT, "impossible", f"{scheme[:20]}://: a template makes its address for each message")
        return ()
    if scheme in SCHEMES:
        return people(drafting, place, f"{scheme}://", reached(parts, address))
    if scheme == "https" and host in NATIVE:
        return people(drafting, place, f"{scheme}://", (Recipient(NATIVE[host], address, {}),))
    found = _webhook(drafting, place, parts)
    return () if found is None else (found,)


def people(drafting: Drafting, place: str, called: str, found: Sequence[Recipient]) -> Sequence[DestinationBody]:
    """Return destinations that reach people. called: their name in notes, without secrets."""
    if not found:
        says = f"{called}: in an unsupported form; see the kinds of destinations for its fields"
        drafting.note(place, WHAT, "impossible", says)
    for recipient in found:
        says = "; the address must agree first, and the mail server is that of the settings"
        mail = says if recipient.kind == "email" else ""
        drafting.note(place, WHAT, "approximated", f"{called}: {recipient.kind}, with Sanderling's own text{mail}")
    return [
        DestinationBody(recipient.url or None, _label(recipient), recipient.kind, tuple(recipient.options.items()))
        for recipient in found
    ]


def _label(recipient: Recipient) -> str:
    mark = sha256(msgspec.json.encode(recipient, order="deterministic")).hexdigest()[:8]
    return recipient.url if recipient.kind == "email" else f"{recipient.kind} [{mark}]"


def _webhook(drafting: Drafting, place: str, parts: SplitResult) -> DestinationBody | None:
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    if scheme not in POSTING:
        other = "it expects another body" if scheme in OTHER_BODY else "its form is not read"
        says = f"{scheme[:20] or 'no'}://: {other}: add it yourself, or put a receiver in front"
        drafting.note(place, WHAT, "impossible", says)
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
        parts.append("without TLS: only if the setting allow_deliver_networks opens its network")
    return "; ".join(parts)
