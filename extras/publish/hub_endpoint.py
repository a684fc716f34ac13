"""The address of the hub: POST of a form, without a key. Anyone who knows a feed's address may subscribe to it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import parse_qsl

import trio
from werkzeug.datastructures import Headers

from actors.bins import Bins
from actors.egress.url import parse_url
from actors.errors import DomainError, UrlRefused
from api.application import Application, Endpoint
from api.peers import caller
from api.problems import MEDIA, Refusal
from api.ratelimit import STRANGERS, neighbourhood
from api.refusals import refusal_of
from extras.publish.endpoint import PublicationEndpoint, is_published
from extras.publish.formats import FORMATS
from extras.publish.operations import HUB, PATH
from extras.publish.turns import Intent, mailbox_of
from storage.errors import StorageError
from storage.records.publication import hash_of
from supervision import MailboxFull

MOST_BYTES = 8 << 10
WITHIN = 15.0
"""Seconds for the form to arrive."""
LONGEST_CALLBACK = 2_048
LONGEST_SECRET = 199
"""Bytes (WebSub, 5.1: fewer than 200)."""
SHORTEST_LEASE, LONGEST_LEASE, USUAL_LEASE = 60, 30 * 86_400, 10 * 86_400
_FORM = "application/x-www-form-urlencoded"
_HARMLESS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"cache-control", b"no-store"),
)
Message = dict[str, Any]


def is_for_the_hub(scope: Message) -> bool:
    return scope.get("type") == "http" and scope.get("raw_path", b"") == HUB.encode()


class HubEndpoint:
    """The ASGI application for requests that match `is_for_the_hub`."""

    def __init__(self, api: Application) -> None:
        self._api = api

    def __repr__(self) -> str:
        return f"<HubEndpoint at {HUB}>"

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer one request: 202 if the hub will call the callback."""
        headers = Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]])
        client = neighbourhood(caller((scope.get("client") or ("", 0))[0], headers, self._api.proxies))
        verdict = self._api.limiter.take(f"hub {client}", STRANGERS, trio.current_time())
        more: Mapping[str, str] = {}
        try:
            if not verdict.admitted:
                wait = {"Retry-After": str(verdict.retry_after)}
                raise Refusal("rate-limited", "Too many requests to the hub.", headers=wait)
            if scope["method"] != "POST":
                raise Refusal("method-not-allowed", "The hub takes POST of a form.", headers={"Allow": "POST"})
            if headers.get("Content-Type", "").partition(";")[0].strip().lower() != _FORM:
                raise Refusal("unsupported-media-type", f"The hub takes {_FORM}.")
            await self._accept(fields_of(await _body(receive)), client)
            status, media, says = 202, "text/plain; charset=utf-8", b"The callback is asked.\n"
        except (Refusal, DomainError, StorageError, trio.TooSlowError) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            status, media, more = refusal.status, MEDIA, refusal.headers
            says = refusal.encode(self._api.base_url)
        named = {"content-type": media, "content-length": str(len(says)), "x-request-id": self._api.new_request_id()}
        named |= dict(verdict.headers()) | dict(more)
        if status != 202:
            named["connection"] = "close"  # the rest of a long form stays unread
        told = [*_HARMLESS, *((name.lower().encode(), value.encode("latin-1")) for name, value in named.items())]
        async with trio.open_nursery() as nursery:
            # Hypercorn's receive queue must not be full when the answer ends, or the answer waits for it.
            nursery.start_soon(_drop, receive)
            await send({"type": "http.response.start", "status": status, "headers": told})
            await send({"type": "http.response.body", "body": says, "more_body": False})
            nursery.cancel_scope.cancel()

    async def _accept(self, fields: Mapping[str, str], client: str) -> None:
        """Queue a request for verification. Raises Refusal, UrlRefused, StorageError."""
        intent = await self._intent(fields, client)
        try:
            mailbox_of(self._api.context).send_nowait(intent)
        except MailboxFull:
            raise Refusal("unavailable", "The hub is busy.", headers={"Retry-After": "30"}) from None

    async def _intent(self, fields: Mapping[str, str], client: str) -> Intent:
        mode: Literal["subscribe", "unsubscribe"]
        match fields.get("hub.mode"):
            case "subscribe":
                mode = "subscribe"
            case "unsubscribe":
                mode = "unsubscribe"
            case _:
                raise _wrong("hub.mode must be subscribe or unsubscribe")
        topic = fields.get("hub.topic", "")
        found = re.fullmatch(rf"{re.escape(self._api.base_url + PATH)}([\w-]+)\.([a-z]+)", topic)
        if found is None or found[2] not in FORMATS:
            raise _wrong("hub.topic must be the address of a feed of this service, as its link rel=self says it")
        hashed = hash_of(found[1])
        published = await self._api.context.storage.publications.by_hash(hashed)
        if published is None:
            raise _wrong("There is no feed at hub.topic: the address is wrong, or was taken back")
        secret = fields.get("hub.secret") or None
        if secret is not None and len(secret.encode()) > LONGEST_SECRET:
            raise _wrong(f"hub.secret has at most {LONGEST_SECRET} bytes")
        return Intent(
            mode,
            topic,
            published.publication.id,
            hashed,
            found[2],
            self._callback(fields.get("hub.callback", "")),
            _lease(fields.get("hub.lease_seconds")),
            secret,
            client,
        )

    def _callback(self, text: str) -> str:
        """Return a normalised callback. Raises Refusal, UrlRefused.

        This checks the text alone. An answer that depends on names or networks would reveal them to a stranger.
        """
        if not text or len(text) > LONGEST_CALLBACK:
            raise _wrong(f"hub.callback must be an address of at most {LONGEST_CALLBACK} characters")
        if "#" in text:
            raise _wrong("hub.callback must have no fragment")
        context = self._api.context
        url = parse_url(text, schemes=("http", "https"))
        if Bins(context.world, context.storage, self._api.base_url).is_own(url):
            raise UrlRefused("url-loop", f"{url.origin} is this service itself")
        return url.text


def endpoints(api: Application) -> Sequence[Endpoint]:
    return Endpoint(is_for_the_hub, HubEndpoint(api)), Endpoint(is_published, PublicationEndpoint(api))


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form; the last value of each name counts. Raises Refusal (400)."""
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))
    except ValueError:
        raise _wrong("The form must be percent-encoded UTF-8") from None


def _lease(text: str | None) -> int:
    """Return a lease in seconds, within our limits. Raises Refusal."""
    if text is None or text == "":
        return USUAL_LEASE
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise _wrong("hub.lease_seconds must be a number of seconds above 0")
    return min(max(int(text), SHORTEST_LEASE), LONGEST_LEASE)


def _wrong(detail: str) -> Refusal:
    return Refusal("invalid-request", f"{detail}.")


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes:
    """Return a body. Raises Refusal (413, 408)."""
    kept = bytearray()
    with trio.move_on_after(WITHIN):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Refusal("invalid-request", "The form was cut off.")
            kept += message.get("body", b"")
            if len(kept) > MOST_BYTES:
                raise Refusal("body-too-large", f"A form has at most {MOST_BYTES} bytes.")
            if not message.get("more_body", False):
                return bytes(kept)
    raise Refusal("request-timeout", f"The form did not arrive within {WITHIN:g} s.")


async def _drop(receive: Callable[[], Awaitable[Message]]) -> None:
    while (await receive())["type"] == "http.request":
        pass
