"""The kind of a destination: its words, what it asks for, its acts, and the way out that it is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.fields import AddressField, Family, KindField
from actors.egress.posted import PostMethod, PostResult
from actors.egress.url import Url
from actors.notification.limits import TextLimits
from actors.notification.speech import NO_OTHER, Speech
from actors.settings import Settings
from actors.world import World
from storage.interface import Storage
from storage.records.destination import Destination


class Poster(Protocol):
    """What deliveries need of egress."""

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body within 15 s, addresses checked. Raises LookFailed, UrlRefused."""


class Dialer(Protocol):
    """What mail needs of egress: connections to checked addresses."""

    async def connect(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a checked address of a host. Raises LookFailed."""

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str]) -> trio.abc.Stream:
        """Return the stream inside TLS. Raises LookFailed; then, and when cancelled, the stream is closed."""


class Outlet(Protocol):
    """The part of egress that deliveries leave through."""

    @property
    def deliver(self) -> Poster:
        """The client that may reach the networks that are allowed for deliveries."""

    @property
    def deliver_plain(self) -> Poster:
        """The same without TLS, which reaches nothing but those networks."""

    @property
    def dial(self) -> Dialer:
        """Connections to where deliveries may go."""

    @property
    def dial_plain(self) -> Dialer:
        """Connections to the networks that are allowed for deliveries, and to nothing else."""

    def whereabouts(self, host: str) -> str:
        """Return the address that a host was last delivered to, or the host itself."""


class Admitted(NamedTuple):
    """An address that may become a destination, in its one spelling, and what the destination is called without a name
    of its own.
    """

    url: str
    label: str


class Consent(NamedTuple):
    """The question whether somebody wants to be told at all, before anything else is sent.

    name, token: the private value by which they answer, and what makes it. invite: sends the question, with a sentence
    of what would be told. Raises LookFailed, UrlRefused.
    """

    name: str
    token: Callable[[World], str]
    invite: Callable[[Outlet, Destination, str, World], Awaitable[Answer]]


class Inviter(Protocol):
    """Sends to people the question whether they want to be told."""

    async def invite(self, consent: Consent, destination: Destination, about: str) -> Answer:
        """Ask once. Every way to fail is an answer."""


class DestinationKind(NamedTuple):
    """A kind of destination.

    where: how a person gets the address and the rest, in two sentences. documentation: the page of the service that it
    was written from. admit: checks an address that a user wrote. Raises UrlRefused; Overloaded when it can't be known
    now. check: yields what is wrong with all values together, by field. new_secret: makes what the destination is given
    once, to know us by; None: it signs nothing.
    send: encodes what is delivered (an event or a digest, as JSON, by its id), sends it once, and reads the answer.
    Raises LookFailed when there was none, UrlRefused. Cancelled, it may or may not have arrived. consent: None where
    nobody has to be asked. limits: of its texts, where people read them, who may write templates; None: programs do.
    speech: the languages that they may read them in.
    in_path: the open values that become a part of the path.
    enrol: returns what a device has to know before it can say how it is reached, a public key; None where none has to.
    """

    id: str
    label: str
    family: Family
    where: str
    documentation: str
    address: AddressField
    fields: Sequence[KindField]
    admit: Callable[[str, World, Storage, Settings], Awaitable[Admitted]]
    new_secret: Callable[[World], str] | None
    send: Callable[[Outlet, Destination, str, bytes, World], Awaitable[Answer]]
    check: Callable[[Mapping[str, str]], Iterable[tuple[str, str]]] = lambda values: ()
    consent: Consent | None = None
    limits: TextLimits | None = None
    speech: Speech = NO_OTHER
    enrol: Callable[[], Awaitable[str]] | None = None
    in_path: frozenset[str] = frozenset()
