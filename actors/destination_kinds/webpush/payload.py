"""The payload for a device: JSON for the dashboard's service worker, small enough for one message. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from actors.notification.dialects import TextLimits
from actors.notification.fitting import message_of, title_of
from actors.notification.reading import TEST, Notification
from actors.notification.speech import ENGLISH, Voice

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


def payload_of(told: Notification, place: str, voice: Voice = ENGLISH, language: str = "en") -> bytes:
    """Return the text to encrypt. place: the path for a digest or a test, which is no event of the stream."""
    item = told.items[0] if told.items else None
    if item is not None and TEST in item.tags:
        title, body = voice.say("A test notification"), voice.say("This is how this device is told.")
    else:
        title, body = title_of(told, LIMITS.title), _body(told)
    if not told.is_digest and item is not None and TEST not in item.tags:
        place = f"/events/{item.id}"
    return msgspec.json.encode(Payload(title, body, place, told.id, language))


def _body(told: Notification) -> str:
    """Return the text without links in its last lines, since a click opens them."""
    items = tuple(item._replace(link="") for item in told.items)
    return message_of(told._replace(items=items, service=""), LIMITS)
