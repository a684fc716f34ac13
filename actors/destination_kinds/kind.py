"""A kind of destination: its texts, fields and functions, its ports to the network, its messages, and the values of a
destination: validated, stored open or sealed, and masked in answers.

A key that may edit a record need not know its secrets. If it could change their address, it could read them: it would
name its own server and wait. So each record lists its sealed values, a source's as well, and the places they are sent
to; every way to move one (API, dashboard, command line, files, import) goes through `check_named`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

import msgspec

from actors.destination_kinds.contract import MESSAGE, MESSAGE_TITLE, AddressField, Answer, Family, KindField
from actors.egress.failures import PostMethod, PostResult
from actors.egress.guard import Guard
from actors.egress.url import Url, parse_url
from actors.errors import Unprocessable, did_you_mean
from actors.notification.dialects import TextLimits
from actors.notification.headline import Notification, notification_of
from actors.notification.message_language import ENGLISH_ONLY, MessageLanguage, MessageLanguages
from actors.notification.message_template import RenderedMessage, WriteRequest
from actors.settings import Settings
from actors.world import Jail, TaskRefused, WorkerDied, WorkerNotStarted, WorkerTooSlow, World
from storage.records.alert import Alert
from storage.records.destination import ADDRESS, Destination, Private
from storage.records.source import Source
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


RENDER_TIMEOUT: Final = 0.05  # seconds of processor time for a template
_NOTHING: Final = Notification("", "", (), 0)


class TemplateFailed(Exception):
    """A template could not be filled in; `reason` is for its author."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def render(jail: Jail, limits: TextLimits, values: Mapping[str, str], notification: Notification) -> Notification:
    """Return a notification with the title and text from a destination's templates. Raises TemplateFailed."""
    if not (values.get(MESSAGE) or values.get(MESSAGE_TITLE)):
        return notification
    answer = await _run_task(jail, "write_message", limits, values, notification)
    rendered = msgspec.msgpack.decode(answer, type=RenderedMessage)
    return notification._replace(title=rendered.title or notification.title, written=rendered.text)


async def render_delivery(
    world: World, limits: TextLimits, values: Mapping[str, str], payload: DeliveryPayload, language: MessageLanguage
) -> Notification:
    """Return the notification of a delivery, with a destination's templates applied. If they fail, it is as without
    them, with a remark: a faulty template must not lose a message.
    """
    notification = notification_of(payload.id, payload.body, language, payload.alert)
    try:
        return await render(world.jail, limits, values, notification)
    except TemplateFailed as error:
        world.log("delivery.template_failed", event_id=notification.id, reason=error.reason)
        return notification._replace(remark=notification.texts.template_failed % {"reason": error.reason})


async def template_errors(jail: Jail, limits: TextLimits, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return errors in a destination's templates, by field: each is tried on an event, a notice, a digest."""
    errors = {}
    for name in (MESSAGE_TITLE, MESSAGE):
        if values.get(name):
            try:
                await _run_task(jail, "check_message", limits, {name: values[name]}, _NOTHING)
            except TemplateFailed as error:
                errors[name] = error.reason
    return errors


async def _run_task(
    jail: Jail, task: str, limits: TextLimits, values: Mapping[str, str], notification: Notification
) -> bytes:
    request = WriteRequest(values.get(MESSAGE, ""), values.get(MESSAGE_TITLE, ""), notification, limits)
    try:
        return await jail.call(task, msgspec.msgpack.encode(request), deadline=RENDER_TIMEOUT)
    except TaskRefused as error:
        raise TemplateFailed(error.reason) from None
    except WorkerTooSlow:
        raise TemplateFailed(f"it was not done within {RENDER_TIMEOUT * 1000:g} ms") from None
    except WorkerNotStarted:
        raise TemplateFailed("no worker process could start") from None
    except WorkerDied:
        raise TemplateFailed("its worker process ended; the template may take too much memory") from None


LONGEST: Final = 4_096
HIDDEN: Final = "[hidden]"
_SHORTEST = 6  # shortest part of a private value that is masked in a receiver's response, in characters
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LOCATION = "body.options"


class Values(NamedTuple):
    """The values of a destination, as stored."""

    options: Mapping[str, str]
    private: Mapping[str, Private]


def validated(kind: DestinationKind, edit: Mapping[str, str | None], old: Destination | None = None) -> Values:
    """Return values after an edit; None removes one. Raises Unprocessable, never with a private value."""
    fields = {field.name: field for field in kind.fields}
    for name in edit:
        if name not in fields:
            says = f"{kind.label} has no such field.{did_you_mean(name, fields)} It has: {', '.join(fields) or 'none'}"
            raise Unprocessable(says, f"{_LOCATION}.{name[:64]}", None)
    before = {} if old is None else {name: value for name, value in old.values.items() if name in fields}
    after = {name: value for name, value in (before | dict(edit)).items() if value}
    for field, error in _errors(kind, fields, after, () if old is None else old.lost):
        raise Unprocessable(error, f"{_LOCATION}.{field.name}", None if field.private else after.get(field.name))
    return Values(
        {name: value for name, value in after.items() if not fields[name].private},
        {name: Private(value) for name, value in after.items() if fields[name].private},
    )


def _errors(
    kind: DestinationKind, fields: Mapping[str, KindField], values: Mapping[str, str], missing: Collection[str]
) -> Iterator[tuple[KindField, str]]:
    for field in kind.fields:
        value = values.get(field.name)
        if value is None:
            if field.required and not field.default and field.name not in missing:
                yield field, f"{field.label} is needed"
        elif len(value) > LONGEST:
            yield field, f"at most {LONGEST:,} characters"
        elif (_CONTROL_BUT_LINES if field.lines else _CONTROL).search(value):
            yield field, "has a character that can't be sent" if field.lines else "is one line, without controls"
        elif field.pattern and not re.fullmatch(field.pattern, value):
            yield field, f"does not look like one{f'; an example: {field.example}' if field.example else ''}"
    for name, error in kind.check(values):
        yield fields[name], error


def visible_address(kind: DestinationKind, address: str) -> str:
    """Return the visible part of an address.

    >>> from actors.destination_kinds.webhook import KIND
    >>> visible_address(KIND, "https://hooks.example.com/in")
    'https://hooks.example.com/in'
    """
    if not kind.address.private:
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…"


def masked(answer: Answer, destination: Destination) -> Answer:
    secrets = sorted(_secret_parts(destination), key=len, reverse=True)

    def without(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)
        for secret in secrets:  # the text may have been cut within one
            for length in range(len(secret) - 1, _SHORTEST - 1, -1):
                if text.endswith(secret[:length]):
                    return text[:-length] + HIDDEN
        return text

    error = None if answer.error is None else without(answer.error)
    return answer._replace(excerpt=without(answer.excerpt), error=error)


def _secret_parts(destination: Destination) -> set[str]:
    """Return a destination's private values, whole and in recognisable parts."""
    parts: set[str] = set()
    for name, private in destination.private.items():
        value = private.value
        parts |= {value, *value.split("\n"), *(line.partition(":")[2].strip() for line in value.split("\n"))}
        if name == ADDRESS:
            url = urlsplit(value)
            parts |= {*url.path.split("/"), url.query, *re.split(r"[=&]", url.query)}
        # As in basic authentication (RFC 7617), with any of the open values as the user.
        for user in destination.options.values():
            parts.add(base64.b64encode(f"{user}:{value}".encode()).decode())
    parts |= {quote(part, safe="") for part in parts}
    return {part for part in parts if len(part) >= _SHORTEST}


class SealedValues(NamedTuple):
    """A record's sealed values by name, and where they go. request_path: in a request. shown_place: for an error."""

    names: frozenset[str]
    places: frozenset[str]
    request_path: str
    shown_place: str


def of_source(source: Source) -> SealedValues:
    """Return a source's sealed values. Its hello goes only to its URL, which never changes."""
    origin = parse_url(source.url).origin
    names = frozenset(("headers",) if source.headers is not None else ())
    return SealedValues(names, frozenset((origin, *source.headers_for)), "body", origin)


def of_destination(destination: Destination, kind: DestinationKind) -> SealedValues:
    """Return a destination's sealed values. Hosts have several tenants, so the whole address counts. Changing a sealed
    address names it anyway; the consent token is our own.
    """
    exempt = {ADDRESS, kind.consent.name if kind.consent else ADDRESS}
    path_values = (f"{name}={destination.options.get(name, '')}" for name in kind.in_path)
    names, places = frozenset(destination.private.keys() - exempt), frozenset((destination.address, *path_values))
    return SealedValues(names, places, "body.options", destination.url)


def check_named(before: SealedValues, after: SealedValues, named: Collection[str]) -> None:
    """Raise Unprocessable if a change sends a sealed value to a new place without naming it."""
    if after.places <= before.places:
        return
    for name in sorted((before.names & after.names) - set(named)):
        error = f"give {name} again: the stored value was given for {before.shown_place}"
        raise Unprocessable(error, f"{before.request_path}.{name}", None)
