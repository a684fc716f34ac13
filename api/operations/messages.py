"""Previews of a destination's message: the text that a person would get for the newest events."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from actors.destination_kinds.fields import MESSAGE, MESSAGE_TITLE
from actors.destination_kinds.writing import TemplateFailed, faults, filled_in
from actors.errors import TooSoon, Unprocessable
from actors.notification.fitting import message_of, title_of
from actors.notification.message_template import SPECIMENS
from actors.notification.reading import Notification, digest_of, notification_of
from api.operations import alerts
from api.operations.context import OperationContext
from api.operations.destinations import kind_of
from api.operations.trials import Stretch, trial
from api.ratelimit import Limit
from api.schemas import messages as wire
from api.schemas.alert_previews import AlertPreviewRequest
from storage.records.cursor import Filter
from storage.records.identity import Seq
from storage.records.tiers import ORDINARY

PACE = Limit(rate=2.0, burst=20)
"""Previews of all keys together. The editor requests one half a second after the last keystroke."""
OF_DIGEST = 3
"""Events in a previewed digest, if there are enough."""
_END = Seq((1 << 63) - 1)


async def preview(call: OperationContext, asked: wire.MessagePreviewRequest) -> wire.MessagePreview:
    """Render the templates. Raises Unprocessable, NotFound, TooSoon, Overloaded."""
    kind = kind_of(call, asked.kind)
    limits, jail = kind.limits, call.context.world.jail
    if limits is None:
        raise Unprocessable(f"{kind.label} gets events, for a program: it has no message", "body.kind", asked.kind)
    verdict = call.limiter.take("previews of messages", PACE, trio.current_time())
    if not verdict.admitted:
        raise TooSoon(f"{PACE.burst} previews at once, then {PACE.rate:g} a second", verdict.retry_after)
    values = {MESSAGE: asked.message, MESSAGE_TITLE: asked.message_title}
    for name, reason in (await faults(jail, limits, values)).items():
        raise Unprocessable(reason, f"body.{name}", values[name])

    async def shown(of: wire.MessageOf, told: Notification) -> wire.ShownMessage:
        try:
            told = await filled_in(jail, limits, values, told)
        except TemplateFailed as error:
            return wire.ShownMessage(of, title_of(told, limits.title), message_of(told, limits), error.reason)
        return wire.ShownMessage(of, title_of(told, limits.title), message_of(told, limits))

    bodies = await _newest(call, asked.alert_id)
    if not bodies:
        return wire.MessagePreview(limits.dialect, [await shown("sample", one) for one in SPECIMENS])
    voice = kind.speech.voice(asked.language)
    one, many = notification_of("", bodies[0], voice), digest_of("", bodies, len(bodies), voice)
    return wire.MessagePreview(limits.dialect, [await shown("event", one), await shown("digest", many)])


async def _newest(call: OperationContext, alert_id: str | None) -> Sequence[bytes]:
    """Return the newest events that an alert matches, or the newest of all. Skip those that take too long to find."""
    log = call.context.storage.log
    if alert_id is None:
        page = await log.read_back(_END, OF_DIGEST, Filter(kinds=ORDINARY))
        return [event.body for event in page.events[:OF_DIGEST]]
    alert = await alerts.named(call, alert_id)
    asked = AlertPreviewRequest(alert.filter_query, alert.language, limit=OF_DIGEST, match=alert.match)
    found = await trial(call, asked, alert.scope, Stretch(full=True))
    events = [await log.get(match.id) for match in found.preview.matches]
    return [event.body for event in events if event is not None]
