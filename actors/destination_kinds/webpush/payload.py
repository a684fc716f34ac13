"""The text that a device is sent: JSON for the service worker of the dashboard, small enough for one message. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from actors.notification.fitting import message_of, title_of
from actors.notification.limits import TextLimits
from actors.notification.reading import TEST, Notification
from actors.notification.speech import ENGLISH, Voice

LIMITS: Final = TextLimits(text=1_400, title=120, unit="bytes")
"""A phone shows four lines. In JSON a letter takes two bytes at most for one of its own (`\\"`), and a title's
letters four: so that all fits into a record however it is written.
"""


class Payload(msgspec.Struct, frozen=True):
    """A notification. url: a path of the dashboard, opened at a click. tag: of two alike, the newer is shown."""

    title: str
    body: str
    url: str
    tag: str
    lang: str


def payload_of(told: Notification, place: str, voice: Voice = ENGLISH, language: str = "en") -> bytes:
    """Return what is encrypted. place: the path of what is no event of the stream: a digest's, a test's."""
    item = told.items[0] if told.items else None
    if item is not None and TEST in item.tags:
        title, body = voice.say("A test notification"), voice.say("This is how this device is told.")
    else:
        title, body = title_of(told, LIMITS.title), _body(told)
    if not told.is_digest and item is not None and TEST not in item.tags:
        place = f"/events/{item.id}"
    return msgspec.json.encode(Payload(title, body, place, told.id, language))


def _body(told: Notification) -> str:
    """Return the text without the links of its last lines, as a click leads there."""
    items = tuple(item._replace(link="") for item in told.items)
    return message_of(told._replace(items=items, service=""), LIMITS)
