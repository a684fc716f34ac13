"""The row of the kind `webpush`: the browser's values, and the sending to a device."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from actors.destination_kinds.addresses import admit
from actors.destination_kinds.answer import Answer
from actors.destination_kinds.fields import LANGUAGE, AddressField, KindField, for_people
from actors.destination_kinds.kind import DestinationKind, Outlet
from actors.destination_kinds.webpush.answers import answer_of
from actors.destination_kinds.webpush.keys import Push
from actors.destination_kinds.webpush.payload import LIMITS, payload_of
from actors.destination_kinds.writing import written
from actors.egress.url import parse_url
from actors.notification.reading import notification_of
from actors.notification.speech import NO_OTHER, Speech
from actors.world import World
from storage.records.destination import WEBPUSH, Destination

TTL: Final = 86_400
"""Seconds that a push service stores messages for a device that is off."""
URGENCY: Final = "normal"
_TOPIC: Final = 32
"""Letters of base64url (RFC 8030, 5.4); hexadecimal digits are a subset."""
_FIELDS: Final = (
    KindField(
        name="p256dh",
        label="Public key of the device (p256dh)",
        help="Of the browser's PushSubscription.",
        private=True,
        pattern=r"[A-Za-z0-9_-]{87}=?",
    ),
    KindField(
        name="auth",
        label="Secret of the device (auth)",
        help="Of the browser's PushSubscription.",
        private=True,
        pattern=r"[A-Za-z0-9_-]{22}(?:==)?",
    ),
    KindField(
        name="urgency",
        label="Urgency",
        help="very-low, low, normal or high: a phone may let what is not urgent wait until it is charged.",
        required=False,
        default=URGENCY,
        pattern="very-low|low|normal|high",
    ),
)


def webpush_kind(push: Push, speech: Speech = NO_OTHER) -> DestinationKind:
    """Return the kind for devices."""

    async def enrol() -> str:
        return (await push.key()).public

    async def send(outlet: Outlet, destination: Destination, id: str, body: bytes, world: World) -> Answer:
        chosen = destination.values.get(LANGUAGE, "")
        voice, code = speech.voice(chosen), chosen if chosen in speech.codes else speech.default
        told = await written(world, LIMITS, destination.values, notification_of(id, body, voice))
        place = f"/alerts/{destination.alert_id}" if told.is_digest else f"/destinations/{destination.id}"
        url = parse_url(destination.address, schemes=("http", "https"))
        text = payload_of(told, place, voice, code)
        headers, message = await _sealed(push, destination, url.origin, text, world)
        # A repeated delivery replaces the first, if the device has not received that yet.
        headers["Topic"] = hashlib.sha256(id.encode()).hexdigest()[:_TOPIC]
        poster = outlet.deliver if url.secure else outlet.deliver_plain
        return answer_of(await poster.post(url, headers, message))

    return DestinationKind(
        id=WEBPUSH,
        label="Web Push",
        family="phone",
        where="A phone or computer that shows notifications. Open this dashboard on it and press Notify this device in "
        "Settings: that fills in everything here.",
        documentation="https://www.rfc-editor.org/rfc/rfc8030",
        address=AddressField(
            label="Endpoint",
            help="Of the browser's PushSubscription. It is sealed.",
            example="https://push.example.net/send/3f9c",
            private=True,
        ),
        fields=(*_FIELDS, *for_people(speech.codes)),
        admit=admit,
        new_secret=None,
        send=send,
        check=_check,
        limits=LIMITS,
        enrol=enrol,
        speech=speech,
    )


async def _sealed(
    push: Push, destination: Destination, origin: str, text: bytes, world: World
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of one push message. Raises LookFailed if there can be no key."""
    from actors.destination_kinds.webpush import encryption, points, vapid  # noqa: PLC0415  (see the folder's preface)

    values, key = destination.values, await push.key()
    device = encryption.Device(points.read(values["p256dh"]), points.read(values["auth"]))
    drawn = points.drawn_secret(world.entropy(points.DRAWN))
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(TTL),
        "Urgency": values.get("urgency", URGENCY),
        "Authorization": vapid.authorization(key, origin, world.now() // 1000, push.contact),
    }
    return headers, encryption.encrypted(text, device, drawn, world.entropy(encryption.SALT))


def _check(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from actors.destination_kinds.webpush import encryption, points  # noqa: PLC0415

    try:
        points.point(points.read(values.get("p256dh", "")))
    except ValueError:
        if "p256dh" in values:
            yield "p256dh", "is no public key of a browser"
    try:
        whole = len(points.read(values.get("auth", ""))) == encryption.AUTH
    except ValueError:
        whole = False
    if "auth" in values and not whole:
        yield "auth", "is no secret of a browser: 16 bytes, base64url"
