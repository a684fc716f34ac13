"""The address of the hub: POST of a form, without a key. Anyone who knows a feed's address may subscribe to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal
from urllib.parse import parse_qsl

from actors.destination_kinds.bins import Bins
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from api.application import Application
from api.endpoint import Arrived, Endpoint, EndpointReply
from api.problems import Refusal
from extras.publish.endpoint import PublicationEndpoint
from extras.publish.formats import FORMATS
from extras.publish.operations import HUB, PATH
from extras.publish.turns import Intent, mailbox_of
from storage.records.publication import hash_of
from supervision import MailboxFull

MOST_BYTES = 8 << 10
LONGEST_CALLBACK = 2_048
LONGEST_SECRET = 199
"""Bytes (WebSub, 5.1: fewer than 200)."""
SHORTEST_LEASE, LONGEST_LEASE, USUAL_LEASE = 60, 30 * 86_400, 10 * 86_400
_FORM = "application/x-www-form-urlencoded"


class HubEndpoint(Endpoint):
    """The application of the hub's address."""

    path, name = HUB, "the hub"
    harmless: ClassVar[Mapping[str, str]] = {"content-security-policy": "default-src 'none'"}

    async def reply(self, request: Arrived) -> EndpointReply:
        """Answer 202 if the hub will call the callback. Raises Refusal, UrlRefused, StorageError."""
        if request.scope["method"] != "POST":
            raise Refusal("method-not-allowed", "The hub takes POST of a form.", headers={"Allow": "POST"})
        if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != _FORM:
            raise Refusal("unsupported-media-type", f"The hub takes {_FORM}.")
        await self._accept(fields_of(await request.body(MOST_BYTES)), request.peer)
        return EndpointReply(202, "text/plain; charset=utf-8", b"The callback is asked.\n")

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
            raise _wrong("hub.topic must be the address of a feed of this service, as in its link rel=self")
        hashed = hash_of(found[1])
        published = await self._api.context.storage.publications.by_hash(hashed)
        if published is None or published.publication.has_ended(self._api.context.world.now()):
            raise _wrong("There is no feed at hub.topic: the address is wrong or withdrawn")
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
        """Raises Refusal, UrlRefused, by the text alone: names or networks are not for strangers."""
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
    return HubEndpoint(api), PublicationEndpoint(api)


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form; the last value of each name counts. Raises Refusal (400)."""
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))
    except ValueError:
        raise _wrong("The form must be percent-encoded UTF-8") from None


def _lease(text: str | None) -> int:
    if text is None or text == "":
        return USUAL_LEASE
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise _wrong("hub.lease_seconds must be a number of seconds above 0")
    return min(max(int(text), SHORTEST_LEASE), LONGEST_LEASE)


def _wrong(detail: str) -> Refusal:
    return Refusal("invalid-request", f"{detail}.")
