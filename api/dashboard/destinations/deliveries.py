"""The attempts of a destination: filtered, grouped by cause, one by one, replayed."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from actors.errors import NotFound
from api.dashboard.destinations.acting import position
from api.dashboard.destinations.causes import cause_of, causes
from api.dashboard.destinations.clock import clock_of
from api.dashboard.destinations.standing import missed
from api.dashboard.forms import Wrong
from api.dashboard.items import items_by_id
from api.dashboard.language.speaking import noted, say, say_many
from api.dashboard.lists import Chip, address, chips
from api.dashboard.screen import Page, Visit
from api.operations import destinations
from storage.attempts import KEPT_ATTEMPTS
from storage.records.destination import Attempt, Destination, Result
from storage.records.identity import Millis
from storage.records.times import parse_rfc3339

SHOWN = 50
_BODY = 16_384
"""Characters of a body to show."""


class DeliveriesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A filter of attempts: result, cause, delivery, period by the reader's clock, numbers below `before`.

    since, until: where a replay continues, for its form.
    """

    result: Literal["", "sent", "retry", "given_up"] = ""
    cause: Annotated[str, Meta(max_length=100)] = ""
    delivery: Annotated[str, Meta(max_length=40)] = ""
    start: Annotated[str, Meta(max_length=40)] = ""
    end: Annotated[str, Meta(max_length=40)] = ""
    before: Annotated[int, Meta(ge=1)] | None = None
    since: Annotated[str, Meta(max_length=40)] = ""
    until: Annotated[str, Meta(max_length=40)] = ""


class Part(NamedTuple):
    """The attempts between two times, of one cause, of one delivery."""

    start: Millis | None
    end: Millis | None
    cause: str
    delivery: str

    def has(self, line: Attempt) -> bool:
        return (
            (self.start is None or line.at >= self.start)
            and (self.end is None or line.at < self.end)
            and self.cause in ("", cause_of(line))
            and self.delivery in ("", line.event_id)
        )


class Body(NamedTuple):
    """The sent event, as in the log. key_id, signed_at: of its signature."""

    text: str
    cut: bool
    title: str
    key_id: str
    signed_at: str


class _Event(Struct):
    title: str = ""
    key_id: str = ""
    signed_at: str = ""


_event = msgspec.json.Decoder(_Event)


_RESULTS: Final = {"sent": noted("delivered"), "retry": noted("failed, tried again"), "given_up": noted("given up")}


def _chips(hook: Destination, query: DeliveriesQuery) -> list[Chip]:
    asked = {name: str(value) for name, value in msgspec.structs.asdict(query).items() if value}
    named = (
        ("result", say("Result"), say(_RESULTS[query.result]) if query.result else ""),
        ("start", say("From"), query.start),
        ("end", say("To"), query.end),
    )
    return chips(f"/destinations/{hook.id}/deliveries", asked | {"before": ""}, named)


async def deliveries(visit: Visit) -> Page:
    """Show a page of attempts, and the causes of all stored failures."""
    hook = await destinations.named(visit, visit.path["id"])
    query: DeliveriesQuery = visit.query
    part, odd = part_of(visit, query)
    lines = await visit.context.storage.outbox.attempts(hook.id, KEPT_ATTEMPTS, query.result or None, query.before)
    fitting = [line for line in lines if part.has(line)]
    page = fitting[:SHOWN]
    further = fitting[SHOWN - 1].number if len(fitting) > SHOWN else None
    if further is None and len(lines) == KEPT_ATTEMPTS:
        further = lines[-1].number  # given-up ones may continue below the newest thousand
    shows = {
        "hook": hook,
        "lines": page,
        "items": await items_by_id(visit, (line.event_id for line in page)),
        "odd": odd,
        "chips": _chips(hook, query),
        "filtered": bool(query.result or query.cause or query.delivery or query.start or query.end),
        "caption": say_many("%(count)s attempt, the newest first", "%(count)s attempts, the newest first", len(page)),
        "next": "" if further is None else link(hook, query, before=further),
        "previous": link(hook, query) if query.before else "",
        "causes": causes(await visit.context.storage.outbox.attempts(hook.id, KEPT_ATTEMPTS)),
        "cause_link": lambda name: link(hook, DeliveriesQuery(cause=name)),
        "missed": missed(hook),
        "open": hook.works,
    }
    return Page("destinations/deliveries.html", say("Deliveries to %(name)s", name=hook.label), shows)


def part_of(visit: Visit, query: DeliveriesQuery) -> tuple[Part, str]:
    """Return the requested filter, and an error for an unreadable time."""
    times: dict[str, Millis | None] = {"start": None, "end": None}
    odd = ""
    for name in times:
        text = getattr(query, name)
        if text:
            try:
                times[name] = parse_rfc3339(position(text, visit.zone, name))
            except (Wrong, ValueError):
                odd = say("A time could not be read, and was left out: write it as 2026-11-21T10:00.")
    return Part(times["start"], times["end"], query.cause, query.delivery), odd


async def attempt(visit: Visit) -> Page:
    """Show one attempt: request, answer, the other attempts of its delivery, the next one."""
    hook = await destinations.named(visit, visit.path["id"])
    line = await _line(visit, hook)
    lines = await visit.context.storage.outbox.attempts(hook.id, KEPT_ATTEMPTS)
    mine = [each for each in lines if each.event_id == line.event_id] or [line]
    shows = {
        "hook": hook,
        "line": line,
        "cause": cause_of(line),
        "clock": clock_of(mine[0]) if hook.works else None,
        "mine": mine,
        "items": await items_by_id(visit, [line.event_id]),
        "body": await _body(visit, line.event_id),
        "live": sum(secret.until is None or secret.until > visit.now for secret in hook.secrets),
        "open": hook.works,
    }
    title = say("Attempt %(number)s at %(name)s", number=str(line.number), name=hook.label)
    return Page("destinations/attempt.html", title, shows)


async def _line(visit: Visit, hook: Destination) -> Attempt:
    """Return the attempt in the path. Raises NotFound."""
    text = visit.path["number"]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    kinds: tuple[Result | None, ...] = (None, "given_up")
    for kind in kinds:
        found = await visit.context.storage.outbox.attempts(hook.id, 1, kind, number + 1)
        if found and found[0].number == number:
            return found[0]
    raise NotFound(say("There is no such attempt; the newest 1,000 are kept, and 10,000 of those given up."))


async def _body(visit: Visit, event_id: str) -> Body | None:
    """Return the sent event while the log has it; None for a digest."""
    event = await visit.context.storage.log.get(event_id)
    if event is None:
        return None
    text = msgspec.json.format(event.body, indent=2).decode("utf-8", "replace")
    told = _event.decode(event.body)
    return Body(text[:_BODY], len(text) > _BODY, told.title, told.key_id, told.signed_at)


def link(hook: Destination, query: DeliveriesQuery, before: int | None = None) -> str:
    """Return the path of a query's page."""
    asked = {name: getattr(query, name) for name in ("result", "cause", "delivery", "start", "end")}
    return address(f"/destinations/{hook.id}/deliveries", **asked, before=before)
