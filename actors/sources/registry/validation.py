"""Validation of requested settings, before any check or write; errors name the field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from actors.egress.headers import HANDSHAKES_OWN, LOOKS_OWN, given_request, wrong_headers, wrong_request
from actors.egress.url import parse_url
from actors.errors import Unprocessable, UrlRefused
from actors.hours import read_hours
from actors.inheritance import origins_of
from actors.messages.requests import DetectRequest, NewSource, SourcePatch, settings_of
from actors.query import QueryError, parse
from actors.sources.following import parse_hosts
from actors.sources.lending import is_lendable, parse_places
from actors.sources.page import check_css
from actors.sources.ports import Ports
from actors.sources.push.connection import is_rule
from storage.records.source import PART_BREAK, Source
from storage.records.tiers import SOCKETS, WITH_DIFF

_SOCKET_FIELDS = ("subprotocols", "hello", "replies")
_POLLED_FIELDS = ("hours", "follow", "follow_hosts")


def check_settings(request: NewSource | Source, *, polled: bool) -> None:
    """Raise Unprocessable for invalid settings, and those of other tiers; a stream over HTTP has no hello."""
    check_filter(request.filter)
    socket = parse_url(request.url).scheme in SOCKETS
    others = [] if socket else [(_SOCKET_FIELDS, "a push source that is a WebSocket")]
    others += [] if polled else [(_POLLED_FIELDS, "a feed or a page")]
    for name, owner in [(name, owner) for names, owner in others for name in names]:
        if getattr(request, name) not in (None, "", (), "none"):
            raise Unprocessable(f"body.{name}: only {owner} has it", f"body.{name}")
    check_headers(request.headers, socket=socket)
    for number, rule in enumerate(request.replies):
        if not is_rule(rule):
            where = f"body.replies[{number}]"
            raise Unprocessable(f"{where}: write `pattern -> text`, with one * in the pattern at most", where, rule)
    if request.headers_for and not is_lendable(request.headers):
        no_headers = "it has no headers to send for others"
        reason = "a posted body is not sent for other sources" if request.headers else no_headers
        raise Unprocessable(f"headers_for: {reason}", "body.headers_for")


async def check_rendering(ports: Ports, request: NewSource | DetectRequest | Source) -> None:
    """Raise Unprocessable if a browser can't show it: a feed, a frame, a POST, a selector that is not CSS."""
    is_page = request.type in (None, *WITH_DIFF) and parse_url(request.url).scheme not in SOCKETS
    is_page = is_page and (not isinstance(request, Source) or request.is_web_page)
    if not is_page and request.render == "always":
        raise Unprocessable("body.render: only a page is rendered", "body.render")
    if not is_page and getattr(request, "screenshots", False):
        raise Unprocessable("body.screenshots: only a page has them", "body.screenshots")
    if not is_page and request.wait_for:
        raise Unprocessable("body.wait_for: only a page has it", "body.wait_for")
    if request.render == "always" and request.headers and given_request(request.headers).body is not None:
        raise Unprocessable("body.render: a source with a POST can't be rendered", "body.render")
    if request.wait_for is not None:
        await check_css(ports, request.wait_for, "body.wait_for")


def settings_from(request: NewSource | SourcePatch) -> dict[str, Any]:
    """Return a request's settings of a source, with normalized hosts. Raises Unprocessable."""
    settings = settings_of(request)
    for name, read in (("follow_hosts", parse_hosts), ("headers_for", parse_places)):
        try:
            settings |= {name: read(settings[name])} if name in settings else {}
        except UrlRefused as refusal:
            raise Unprocessable(f"{name}: {refusal.detail}", f"body.{name}") from None
    if isinstance(hello := settings.get("hello"), tuple):
        if any(PART_BREAK.search(f"\n{part}\n") for part in hello):
            raise Unprocessable("hello: no message has a line ---", "body.hello")
        settings |= {"hello": "\n---\n".join(hello)}
    return settings


def check_hours(text: str | None) -> None:
    """Raise Unprocessable for invalid hours."""
    try:
        if text is not None:
            read_hours(text)
    except ValueError as error:
        raise Unprocessable(f"hours: {error}", "body.hours", text) from None


def check_headers(text: str | None, *, socket: bool) -> None:
    find, own, of = (
        (wrong_headers, HANDSHAKES_OWN, "the handshake") if socket else (wrong_request, LOOKS_OWN, "the look")
    )
    for mistake in find(text or "", own, of):
        raise Unprocessable(f"headers: {mistake}", "body.headers")


def check_filter(text: str | None) -> None:
    try:
        parse(text or "", "simple")
    except QueryError as error:
        raise Unprocessable(f"{error.reason} at character {error.position}", "body.filter", text) from None


@contextmanager
def naming_tags(source: Source) -> Iterator[None]:
    """Name the tag that an unmatched selector comes from, if it does."""
    tags = origins_of(source).get("selector", ())
    try:
        yield
    except Unprocessable as error:
        if not tags or error.location != "body.selector":
            raise
        reason = f"{error.detail}. The selector comes from its tag {tags[0]}: give the source its own"
        raise Unprocessable(reason, "body.tags", tags[0]) from None
