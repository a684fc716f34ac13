"""The message of a destination, from its own templates if it has any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from actors.destination_kinds.fields import MESSAGE, MESSAGE_TITLE
from actors.destination_kinds.kind import Parcel
from actors.notification.dialects import TextLimits
from actors.notification.message_template import RenderedMessage, WriteRequest
from actors.notification.reading import Notification, notification_of
from actors.notification.speech import Voice
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow, World

WITHIN: Final = 0.05
"""Seconds of processor time for a template."""
_NOTHING: Final = Notification("", "", (), 0)


class TemplateFailed(Exception):
    """A template could not be filled in; `reason` is for its author."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def filled_in(jail: Jail, limits: TextLimits, values: Mapping[str, str], told: Notification) -> Notification:
    """Return a notification with the title and text from a destination's templates. Raises TemplateFailed."""
    if not (values.get(MESSAGE) or values.get(MESSAGE_TITLE)):
        return told
    written = msgspec.msgpack.decode(await _call(jail, "write_message", limits, values, told), type=RenderedMessage)
    return told._replace(title=written.title or told.title, written=written.text)


async def written(
    world: World, limits: TextLimits, values: Mapping[str, str], parcel: Parcel, voice: Voice
) -> Notification:
    """Return the notification of a delivery, with a destination's templates applied.

    If they fail, it is as without them, with a remark: a faulty template must not lose a message.
    """
    told = notification_of(parcel.id, parcel.body, voice, parcel.alert)
    try:
        return await filled_in(world.jail, limits, values, told)
    except TemplateFailed as error:
        world.log("delivery.template_failed", event_id=told.id, reason=error.reason)
        return told._replace(remark=told.words.template_failed % {"reason": error.reason})


async def faults(jail: Jail, limits: TextLimits, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return errors in a destination's templates, by field: each is tried on an event, a notice, a digest."""
    found = {}
    for name in (MESSAGE_TITLE, MESSAGE):
        if values.get(name):
            try:
                await _call(jail, "check_message", limits, {name: values[name]}, _NOTHING)
            except TemplateFailed as error:
                found[name] = error.reason
    return found


async def _call(jail: Jail, task: str, limits: TextLimits, values: Mapping[str, str], told: Notification) -> bytes:
    asked = WriteRequest(values.get(MESSAGE, ""), values.get(MESSAGE_TITLE, ""), told, limits)
    try:
        return await jail.call(task, msgspec.msgpack.encode(asked), deadline=WITHIN)
    except TaskRefused as error:
        raise TemplateFailed(error.reason) from None
    except WorkerTooSlow:
        raise TemplateFailed(f"it was not done within {WITHIN * 1000:g} ms") from None
    except WorkerDied:
        raise TemplateFailed("its worker process ended; the template may take too much memory") from None
