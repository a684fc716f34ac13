"""The kind `webpush`: the browser's values, the text for a device, and the sending through its push service.

This service's key for push services is made once, when the first device needs it, and stored sealed. The meanings of
responses are from RFC 8030 (5 to 8) and RFC 8292 (4.2).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from actors.destination_kinds.addresses import admit
from actors.destination_kinds.contract import LANGUAGE, AddressField, Answer, KindField, Verdict, escaped, people_fields
from actors.destination_kinds.kind import DeliveryPayload, DeliveryTransport, DestinationKind, Service, render_delivery
from actors.egress.failures import Blame, CheckFailed, PostResult
from actors.egress.url import parse_url
from actors.notification.dialects import TextLimits
from actors.notification.fitting import message_of, title_of
from actors.notification.headline import TEST, Notification
from actors.notification.message_language import ENGLISH, MessageLanguage, MessageLanguages
from actors.settings import Settings
from actors.world import World
from extras.webpush.key import PushKey, add_first_key, push_key
from storage.records.destination import WEBPUSH, Destination
from storage.sql.storage import Storage

_ADDRESS = re.compile(r"[^\s@:/]+@[^\s@:/]+")


class Push:
    """How to reach devices; only a running service has a key for it. contact: as in `encryption.py`."""

    def __init__(self, service: Service | None) -> None:
        self._service = service
        self._known: PushKey | None = None
        self.contact = "" if service is None else contact_of(service.settings)

    async def key(self) -> PushKey:
        """Return the service's key, made at the first use. Raises CheckFailed."""
        if self._service is None:
            raise CheckFailed(Blame.LOCAL, "no key for push services can be kept here")
        if self._known is None:
            world, storage, _ = self._service
            self._known = await push_key(storage) or await _made(world, storage)
        return self._known


async def _made(world: World, storage: Storage) -> PushKey:
    """Make the key, unless another node does so at the same time; return the stored one."""
    from extras.webpush import encryption

    secret = encryption.drawn_secret(world.entropy(encryption.DRAWN))
    public = encryption.spelled(encryption.public_half(encryption.private_key(secret)))
    await add_first_key(storage, PushKey(public, secret, world.now()))
    made = await push_key(storage)
    assert made is not None
    return made


def contact_of(settings: Settings) -> str:
    """Return the owner's contact for push services, as in RFC 8292; "" without one in the settings.

    >>> contact_of(Settings(contact="anna@example.com")), contact_of(Settings(base_url="https://news.example.com"))
    ('mailto:anna@example.com', 'https://news.example.com')
    """
    for text in (settings.contact, settings.public_url()):
        if text.startswith(("https://", "mailto:")):
            return text
        if _ADDRESS.fullmatch(text):
            return f"mailto:{text}"
    return ""


LIMITS: Final = TextLimits(text=1_400, title=120, unit="bytes")
r"""A phone shows four lines. JSON at most doubles a letter (`\"`), and a title's letters take up to four bytes: so a
payload always fits into a record.
"""


class Payload(msgspec.Struct, frozen=True):
    """A notification. url: a path of the dashboard, opened by a click. tag: equal ones replace each other."""

    title: str
    body: str
    url: str
    tag: str
    lang: str


def payload_of(told: Notification, place: str, language: MessageLanguage = ENGLISH, code: str = "en") -> bytes:
    """Return the text to encrypt. place: the path for a digest or a test, which is no event of the stream."""
    item = told.items[0] if told.items else None
    if item is not None and TEST in item.tags:
        title, body = (
            language.translate("A test notification"),
            language.translate("This device gets notifications like this one."),
        )
    else:
        title, body = title_of(told, LIMITS.title), _body(told)
    if not told.is_digest and item is not None and TEST not in item.tags:
        place = f"/events/{item.id}"
    return msgspec.json.encode(Payload(title, body, place, told.id, code))


def _body(told: Notification) -> str:
    """Return the text without links in its last lines, since a click opens them."""
    return message_of(told._replace(items=tuple(item._replace(link="") for item in told.items), service=""), LIMITS)


_SHOWN: Final = 200
_GONE: Final = (
    "the browser no longer accepts notifications from this service. Open Settings on that device to enable them again"
)
_NOT_US: Final = (
    "the push service does not accept our key: the device has another one, this machine's clock is wrong, or it needs "
    "an address (the setting contact)"
)
_MEANINGS: Final[dict[int, tuple[Verdict | None, str]]] = {
    400: ("again", _NOT_US),
    401: ("again", _NOT_US),
    403: ("again", _NOT_US),
    404: ("revoked", _GONE),
    410: ("revoked", _GONE),
    413: ("refused", "the push service accepts no message of this size"),
    429: ("slow", "the push service asks for fewer messages"),
}


def answer_of(posted: PostResult) -> Answer:
    """Return the outcome of a message: 201 means that the push service has it, not the device."""
    said, status = escaped(posted.body), posted.status
    answer = Answer(status, posted.latency_ms, retry_after=posted.retry_after, excerpt=said)
    if answer.delivered:
        return answer
    verdict, what = _MEANINGS.get(status, (None, ""))
    error = ": ".join(filter(None, (what, f"HTTP {status} {said[:_SHOWN]}".rstrip())))
    return answer._replace(error=error, verdict=verdict)


TTL: Final = 86_400  # seconds that a push service stores messages for a device that is off
URGENCY: Final = "normal"
_TOPIC: Final = 32  # letters of base64url (RFC 8030, 5.4); hexadecimal digits are a subset
_FIELDS: Final = (
    KindField(
        name="p256dh",
        label="Public key of the device (p256dh)",
        help="From the browser's PushSubscription.",
        private=True,
        pattern=r"[A-Za-z0-9_-]{87}=?",
    ),
    KindField(
        name="auth",
        label="Secret of the device (auth)",
        help="From the browser's PushSubscription.",
        private=True,
        pattern=r"[A-Za-z0-9_-]{22}(?:==)?",
    ),
    KindField(
        name="urgency",
        label="Urgency",
        help="very-low, low, normal or high: a phone may delay low urgencies until it is charged.",
        required=False,
        default=URGENCY,
        pattern="very-low|low|normal|high",
    ),
)


def kinds(languages: MessageLanguages, service: Service | None) -> Sequence[DestinationKind]:
    push = Push(service)

    async def enrol() -> str:
        return (await push.key()).public

    async def send(
        transport: DeliveryTransport, destination: Destination, payload: DeliveryPayload, world: World
    ) -> Answer:
        chosen = destination.values.get(LANGUAGE, "")
        language, code = languages.language(chosen), chosen if chosen in languages.codes else languages.default
        told = await render_delivery(world, LIMITS, destination.values, payload, language)
        place = f"/alerts/{destination.alert_id}" if told.is_digest else f"/destinations/{destination.id}"
        url = parse_url(destination.address, schemes=("http", "https"))
        headers, message = await _sealed(push, destination, url.origin, payload_of(told, place, language, code), world)
        # A repeated delivery replaces the first, if the device has not received that yet.
        headers["Topic"] = hashlib.sha256(payload.id.encode()).hexdigest()[:_TOPIC]
        poster = transport.deliver if url.secure else transport.deliver_plain
        return answer_of(await poster.post(url, headers, message))

    kind = DestinationKind(
        id=WEBPUSH,
        label="Web Push",
        family="phone",
        where="A phone or computer that shows notifications. Open this dashboard on it and press Notify this device in "
        "Settings: that fills in everything here.",
        documentation="https://www.rfc-editor.org/rfc/rfc8030",
        address=AddressField(
            label="Endpoint",
            help="From the browser's PushSubscription. It is stored sealed.",
            example="https://push.example.net/send/3f9c",
            private=True,
        ),
        fields=(*_FIELDS, *people_fields(languages.codes)),
        admit=admit,
        new_secret=None,
        send=send,
        check=_check,
        limits=LIMITS,
        enrol=enrol,
        languages=languages,
    )
    return (kind,)


async def _sealed(
    push: Push, destination: Destination, origin: str, text: bytes, world: World
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of one push message. Raises CheckFailed if there can be no key."""
    from extras.webpush import encryption

    values, key = destination.values, await push.key()
    device = encryption.Device(encryption.read(values["p256dh"]), encryption.read(values["auth"]))
    drawn = encryption.drawn_secret(world.entropy(encryption.DRAWN))
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(TTL),
        "Urgency": values.get("urgency", URGENCY),
        "Authorization": encryption.authorization(key, origin, world.now() // 1000, push.contact),
    }
    return headers, encryption.encrypted(text, device, drawn, world.entropy(encryption.SALT))


def _check(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from extras.webpush import encryption

    try:
        encryption.point(encryption.read(values.get("p256dh", "")))
    except ValueError:
        if "p256dh" in values:
            yield "p256dh", "is no public key of a browser"
    try:
        whole = len(encryption.read(values.get("auth", ""))) == encryption.AUTH
    except ValueError:
        whole = False
    if "auth" in values and not whole:
        yield "auth", "is no secret of a browser: 16 bytes, base64url"
