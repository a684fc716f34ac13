"""Deliveries: the attempts of a destination by cause, one attempt with its schedule, the positions of a replay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta, Struct

from actors.delivery.schedule import ATTEMPTS, WAITS, quiet_until, window_of
from actors.errors import NotFound
from actors.language.speaking import noted, say, say_many
from api.dashboard.drawing import span
from api.dashboard.events import items_by_id
from api.dashboard.forms import InvalidForm
from api.dashboard.lists import address, chips
from api.dashboard.screen import Page, Visit
from api.nouns import destinations
from storage.records.destination import KEPT_ATTEMPTS, Attempt, Destination, Result, Waiting
from storage.records.identity import Millis, id_of, millis_of, parse_rfc3339, rfc3339


class RetryStep(NamedTuple):
    """A step of the schedule. wait: the time since the previous failure, as text. state: done, next or ahead."""

    number: int
    wait: str
    state: str


class Clock(NamedTuple):
    """A failed delivery that will be retried. end: about when it is given up."""

    attempt: int
    next_at: Millis
    steps: Sequence[RetryStep]
    end: Millis


class Next(NamedTuple):
    """When a destination next sends, if anything waits. why: the reason for the wait."""

    at: Millis | None
    why: str


def clock_of(line: Attempt) -> Clock | None:
    """Return the schedule of a delivery from its newest attempt, or None without a further one."""
    if line.result != "retry" or line.next_at is None:
        return None
    done = line.attempt
    waits = (say("at once"), *map(span, WAITS))
    states = ("done",) * done + ("next",) + ("ahead",) * ATTEMPTS
    steps = [RetryStep(number + 1, waits[number], states[number]) for number in range(ATTEMPTS)]
    return Clock(done, line.next_at, steps, Millis(line.next_at + 1000 * sum(WAITS[done:])))


def next_of(destination: Destination, waiting: Waiting | None, now: Millis) -> Next:
    if not destination.enabled or destination.state == "disabled":
        return Next(None, noted("nothing is sent") if waiting is None else noted("waits until it is resumed"))
    if waiting is None:
        return Next(None, noted("nothing waits"))
    if destination.delivery_mode != "instant":
        due = waiting.next_due
        if due is None or due <= now:
            return Next(window_of(destination, max(now, waiting.oldest)).end, noted("the digest's window closes"))
        return Next(due, noted("a retry"))
    quiet = quiet_until(destination.quiet_hours, now)
    if quiet is not None:
        return Next(quiet, noted("quiet hours end"))
    if waiting.next_due is None:
        return Next(None, noted("under way"))
    return Next(max(now, waiting.next_due), "due" if waiting.next_due <= now else noted("a retry"))


_LONGEST = 80
_PARTICULAR = re.compile(
    r"\[?\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\b\]?"  # IPv6
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # IPv4
    r"|\b\d+(?:\.\d+)?\b"
)


class Cause(NamedTuple):
    """Failures with one cause. deliveries, given_up: how many it affected and ended. example: the newest attempt."""

    name: str
    attempts: int
    deliveries: int
    given_up: int
    first: Millis
    last: Millis
    example: Attempt


def cause_of(line: Attempt) -> str:
    """Return the cause of a failed attempt, without its particulars; "" for a success.

    >>> from storage.records.identity import Millis
    >>> a = Attempt("d", "e", 1, "retry", Millis(0), None, 9, "timeout after 15.0 s at 10.0.0.1:80", None)
    >>> cause_of(a)
    'timeout after … s at …'
    """
    if line.result == "sent":
        return ""
    if line.status is not None:
        return f"HTTP {line.status}"
    return _PARTICULAR.sub("…", line.error or "no answer")[:_LONGEST]


def causes(lines: Sequence[Attempt]) -> list[Cause]:
    groups: dict[str, list[Attempt]] = {}
    for line in lines:
        if name := cause_of(line):
            groups.setdefault(name, []).append(line)
    found = []
    for name, group in groups.items():
        ids, ended = {one.event_id for one in group}, {one.event_id for one in group if one.result == "given_up"}
        found.append(Cause(name, len(group), len(ids), len(ended), group[-1].at, group[0].at, group[0]))
    return sorted(found, key=lambda cause: (-cause.attempts, cause.name))


PAGE = 50
_BODY = 16_384  # characters of a body to show


class DeliveriesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A filter of attempts; times by the reader's clock. since, until: where a replay continues, for its form."""

    result: Literal["", "sent", "retry", "given_up"] = ""
    cause: Annotated[str, Meta(max_length=100)] = ""
    delivery: Annotated[str, Meta(max_length=40)] = ""
    start: Annotated[str, Meta(max_length=40)] = ""
    end: Annotated[str, Meta(max_length=40)] = ""
    before: Annotated[int, Meta(ge=1)] | None = None
    since: Annotated[str, Meta(max_length=40)] = ""
    until: Annotated[str, Meta(max_length=40)] = ""


_RESULTS: Final = {"sent": noted("delivered"), "retry": noted("failed, will retry"), "given_up": noted("given up")}


async def deliveries(visit: Visit) -> Page:
    hook = await destinations.named(visit, visit.path["id"])
    query: DeliveriesQuery = visit.query
    lines = await visit.context.storage.outbox.attempts(hook.id, KEPT_ATTEMPTS, query.result or None, query.before)
    fitting, odd = _fitting(visit, query, lines)
    page = fitting[:PAGE]
    further = fitting[PAGE - 1].number if len(fitting) > PAGE else None
    if further is None and len(lines) == KEPT_ATTEMPTS:
        further = lines[-1].number  # given-up ones may continue below the newest thousand
    asked = {name: str(value) for name, value in msgspec.structs.asdict(query).items() if value}
    result = say(_RESULTS[query.result]) if query.result else ""
    named = (("result", say("Result"), result), ("start", say("From"), query.start), ("end", say("To"), query.end))
    shows = {
        "hook": hook,
        "lines": page,
        "items": await items_by_id(visit, (line.event_id for line in page)),
        "odd": odd,
        "chips": chips(f"/destinations/{hook.id}/deliveries", asked | {"before": ""}, named),
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


def _fitting(visit: Visit, query: DeliveriesQuery, lines: Sequence[Attempt]) -> tuple[list[Attempt], str]:
    """Return the attempts that pass the filter, and an error for an unreadable time, which is left out."""
    times, odd = [Millis(0), Millis(1 << 62)], ""
    for number, (name, text) in enumerate((("start", query.start), ("end", query.end))):
        try:
            times[number] = parse_rfc3339(position(text, visit.zone, name)) if text else times[number]
        except (InvalidForm, ValueError):
            odd = say("A time was invalid and was ignored. Write it as 2026-11-21T10:00.")
    period = [line for line in lines if times[0] <= line.at < times[1]]
    of_cause = [line for line in period if query.cause in ("", cause_of(line))]
    return [line for line in of_cause if query.delivery in ("", line.event_id)], odd


async def attempt(visit: Visit) -> Page:
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
    text = visit.path["number"]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    kinds: tuple[Result | None, ...] = (None, "given_up")
    for kind in kinds:
        found = await visit.context.storage.outbox.attempts(hook.id, 1, kind, number + 1)
        if found and found[0].number == number:
            return found[0]
    raise NotFound(say("There is no such attempt. The service keeps the newest 1,000, and 10,000 given up."))


async def _body(visit: Visit, event_id: str) -> dict[str, Any] | None:
    """Return the sent event as in the log, while it has it; None for a digest."""
    event = await visit.context.storage.log.get(event_id)
    if event is None:
        return None
    text = msgspec.json.format(event.body, indent=2).decode("utf-8", "replace")
    told = msgspec.json.decode(event.body)
    shown = {name: told.get(name, "") for name in ("title", "key_id", "signed_at")}
    return {"text": text[:_BODY], "cut": len(text) > _BODY} | shown


def link(hook: Destination, query: DeliveriesQuery, before: int | None = None) -> str:
    asked = {name: getattr(query, name) for name in ("result", "cause", "delivery", "start", "end")}
    return address(f"/destinations/{hook.id}/deliveries", **asked, before=before)


def position(text: str, zone: ZoneInfo, name: str) -> str:
    """Return a position in the log: an event's id unchanged, a time by the reader's clock as RFC 3339. Raises
    InvalidForm.

    >>> position("2026-11-21T10:00", ZoneInfo("Europe/Stockholm"), "since")
    '2026-11-21T09:00:00.000Z'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if len(text) == len("00000000-0000-7000-8000-000000000000"):
            return text
        raise InvalidForm(**{name: say("Enter a time or an event's id.")}) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return rfc3339(Millis(round(moment.timestamp() * 1000)))


def missed(hook: Destination) -> dict[str, Any] | None:
    """Return the place after which a destination may have missed matches: an event's id and time."""
    seq = hook.missed_after
    return None if seq is None else {"since": id_of(seq, 0), "at": millis_of(seq)}
