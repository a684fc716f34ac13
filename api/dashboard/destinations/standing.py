"""The state of destinations: waiting deliveries, failures, latency, next attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from api.dashboard.destinations.clock import Next, next_of
from api.dashboard.language.speaking import noted, say, say_many
from api.dashboard.screen import Visit
from storage.records.destination import Attempt, Destination, QuietHours, Rates, Waiting
from storage.records.identity import Millis, id_of, millis_of
from storage.records.states import DESTINATIONS, DestinationState, State

MODES = {
    "instant": noted("at once"),
    "15min": noted("every 15 min"),
    "hourly": noted("hourly"),
    "daily": noted("daily"),
}
SERIES = 40
"""Newest attempts in a latency chart."""
_DAYS = {
    "mon": noted("Mon"),
    "tue": noted("Tue"),
    "wed": noted("Wed"),
    "thu": noted("Thu"),
    "fri": noted("Fri"),
    "sat": noted("Sat"),
    "sun": noted("Sun"),
}


class Latency(NamedTuple):
    """The latency of the newest attempts in milliseconds, oldest first, with a sentence."""

    values: Sequence[int]
    says: str
    typical: int | None


class Standing(NamedTuple):
    """A destination as a page shows it. alert: its alert's name. mode: when it delivers, as text.

    failure: the share of failures among its newest attempts. duplicate: the share of deliveries that may have arrived
    twice, "" for none.
    """

    destination: Destination
    alert: str
    state: State
    mode: str
    waiting: Waiting | None
    failure: str
    duplicate: str
    latency: Latency
    next: Next
    old_secret_until: Millis | None


async def standings(visit: Visit, hooks: Sequence[Destination]) -> list[Standing]:
    """Return destinations as pages show them, in order. Reads the attempts of each, so pass only one page."""
    storage, ids = visit.context.storage, [hook.id for hook in hooks]
    waiting, rates = await storage.outbox.waiting(ids), await storage.outbox.rates(ids)
    names: dict[str, str] = {}
    found = []
    for hook in hooks:
        if hook.alert_id not in names:
            alert = await storage.alerts.get(hook.alert_id)
            names[hook.alert_id] = alert.name if alert is not None else ""
        lines = await storage.outbox.attempts(hook.id, SERIES)
        rated = rates.get(hook.id, Rates(0.0, 0.0))
        found.append(standing(hook, names[hook.alert_id], waiting.get(hook.id), rated, lines, visit.now))
    return found


def standing(  # noqa: PLR0917 - all facts about one destination
    hook: Destination, alert: str, waiting: Waiting | None, rates: Rates, lines: Sequence[Attempt], now: Millis
) -> Standing:
    """Return a destination as a page shows it. lines: newest first."""
    old = [secret.until for secret in hook.secrets if secret.until is not None and secret.until > now]
    return Standing(
        destination=hook,
        alert=alert,
        state=DESTINATIONS[state_of(hook, lines)],
        mode=mode_words(hook),
        waiting=waiting,
        failure=percent(rates.failure) if lines else "–",
        duplicate=percent(rates.duplicate) if rates.duplicate else "",
        latency=latency(lines),
        next=next_of(hook, waiting, now),
        old_secret_until=max(old, default=None),
    )


def state_of(hook: Destination, lines: Sequence[Attempt]) -> DestinationState:
    """Return a destination's state. lines: newest first."""
    if not hook.confirmed:
        return "unconfirmed"
    if hook.was_enabled is not None:
        return "needs_secret"
    if not hook.enabled:
        return "paused"
    if hook.state != "active":
        return hook.state
    if not lines:
        return "unused"
    return "active" if lines[0].result == "sent" else "last_failed"


def latency(lines: Sequence[Attempt]) -> Latency:
    """Return the latency of the newest attempts. lines: newest first."""
    values = [line.latency_ms for line in reversed(lines)]
    if not values:
        return Latency((), say("no attempts yet"), None)
    typical = sorted(values)[len(values) // 2]
    says = say_many(
        "%(count)s attempt: %(typical)s ms typically, %(most)s ms at most",
        "%(count)s attempts: %(typical)s ms typically, %(most)s ms at most",
        len(values),
        typical=typical,
        most=max(values),
    )
    return Latency(values, says, typical)


class Missed(NamedTuple):
    """The matches that a destination may have missed: those after an event's id and time."""

    since: str
    at: Millis


def missed(hook: Destination) -> Missed | None:
    """Return a destination's possibly missed matches, or None."""
    seq = hook.missed_after
    return None if seq is None else Missed(id_of(seq, 0), millis_of(seq))


def mode_words(hook: Destination) -> str:
    """Return when a destination delivers, as text."""
    if hook.delivery_mode == "daily":
        return say("daily at %(time)s (%(zone)s)", time=f"{hook.digest_hour:02d}:00", zone=hook.digest_timezone)
    return say(MODES[hook.delivery_mode])


def quiet_words(hours: QuietHours | None) -> str:
    """Return quiet hours as text, "" without any.

    >>> quiet_words(QuietHours("22:00", "07:00", "Europe/Stockholm", ("mon", "tue")))
    '22:00 to 07:00 (Europe/Stockholm), Mon, Tue'
    """
    if hours is None:
        return ""
    days = "" if len(hours.weekdays) == len(_DAYS) else ", " + ", ".join(say(_DAYS[day]) for day in hours.weekdays)
    return say("%(start)s to %(end)s (%(zone)s)", start=hours.start, end=hours.end, zone=hours.timezone) + days


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.0), percent(0.004), percent(0.256)
    ('0 %', '< 1 %', '26 %')
    """
    return "< 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"
