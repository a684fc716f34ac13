"""The message of a destination, from its own templates if it has any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from actors.destination_kinds.fields import MESSAGE, MESSAGE_TITLE
from actors.destination_kinds.kind import DeliveryPayload
from actors.notification.dialects import TextLimits
from actors.notification.message_language import MessageLanguage
from actors.notification.message_template import RenderedMessage, WriteRequest
from actors.notification.reading import Notification, notification_of
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow, World

RENDER_TIMEOUT: Final = 0.05
"""Seconds of processor time for a template."""
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
    except WorkerDied:
        raise TemplateFailed("its worker process ended; the template may take too much memory") from None
