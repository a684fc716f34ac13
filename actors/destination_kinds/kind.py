"""A kind of destination: its texts, fields and functions, and its ports to the network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.fields import AddressField, Family, KindField
from actors.egress.failures import PostMethod, PostResult
from actors.egress.guard import Guard
from actors.egress.url import Url
from actors.notification.dialects import TextLimits
from actors.notification.message_language import ENGLISH_ONLY, MessageLanguages
from actors.settings import Settings
from actors.world import World
from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.sql.storage import Storage


class Poster(Protocol):
    """Sends HTTP requests for deliveries."""

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body within 15 s, addresses checked. Raises CheckFailed, UrlRefused."""


class DeliveryTransport(NamedTuple):
    """The part of egress for deliveries. deliver, dial: with TLS, also to networks opened for deliveries;
    deliver_plain, dial_plain: without, only to these. last_address: where a host was last delivered to, or the host
    itself.
    """

    deliver: Poster
    deliver_plain: Poster
    dial: Guard
    dial_plain: Guard
    last_address: Callable[[str], str]


class AdmittedAddress(NamedTuple):
    """The normalized URL of a possible destination, and its default label."""

    url: str
    label: str


class Consent(NamedTuple):
    """The request for consent that precedes all notifications. name, token: the private value in the answer, and its
    generator. invite: sends the request, with a sentence about the notifications. Raises CheckFailed, UrlRefused.
    """

    name: str
    token: Callable[[World], str]
    invite: Callable[[DeliveryTransport, Destination, str, World], Awaitable[Answer]]


class Service(NamedTuple):
    """The running service, for a kind that keeps a key."""

    world: World
    storage: Storage
    settings: Settings


class DeliveryPayload(NamedTuple):
    """A delivery: an event or a digest, as JSON, and its id. alert: that it is of, for a message to a person."""

    id: str
    body: bytes
    alert: Alert | None = None


class DestinationKind(NamedTuple):
    """A kind of destination. where: how a person gets the address and the other values, in two sentences.
    documentation: the service's page that it is based on. admit: checks a user's address. Raises UrlRefused; Overloaded
    if that can't be decided now. check: yields errors in the combination of values, by field. new_secret: makes the
    signing secret, shown once; None: it signs nothing. send: encodes a delivery, sends it once, and interprets the
    answer. Raises CheckFailed without one, UrlRefused. If cancelled, it may or may not have arrived. limits: of texts
    for people, with templates; None: for programs. in_path: the public values in the path. enrol: returns a public key
    that a device needs before it has an address; None if not needed.
    """

    id: str
    label: str
    family: Family
    where: str
    documentation: str
    address: AddressField
    fields: Sequence[KindField]
    admit: Callable[[str, World, Storage, Settings], Awaitable[AdmittedAddress]]
    new_secret: Callable[[World], str] | None
    send: Callable[[DeliveryTransport, Destination, DeliveryPayload, World], Awaitable[Answer]]
    check: Callable[[Mapping[str, str]], Iterable[tuple[str, str]]] = lambda values: ()
    consent: Consent | None = None
    limits: TextLimits | None = None
    languages: MessageLanguages = ENGLISH_ONLY
    enrol: Callable[[], Awaitable[str]] | None = None
    in_path: frozenset[str] = frozenset()
