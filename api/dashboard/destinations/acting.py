"""The buttons of a destination: test, rotate, pause, replay, delete."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from msgspec import Meta

from api.dashboard.confirming import check_confirmed
from api.dashboard.destinations.choices import signing_secret
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say, say_many
from api.dashboard.screen import Go, Visit
from api.operations import destinations
from api.operations.replays import replay
from api.schemas import alerts as wire
from storage.records.identity import Millis
from storage.records.times import rfc3339

_EXCERPT = 300


class Replay(Form, frozen=True, kw_only=True):
    """The deliveries to repeat: chosen events, or a range. since: an event's id, or a time by the reader's clock."""

    ids: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    since: str = ""
    until: str = ""


async def test(visit: Visit) -> Go:
    """Send a sample now, and report the result."""
    there = _page(visit)
    found = await destinations.test(visit, visit.path["id"])
    said = " " + say("It said: “%(text)s”", text=found.said[:_EXCERPT]) if found.said else ""
    if found.result == "sent":
        status, took = str(found.status_code), found.latency_ms
        return Go(there, say("The test arrived: HTTP %(status)s after %(count)s ms.", status=status, count=took) + said)
    ends = say("It would be tried again.") if found.result == "retry" else say("No further try would follow.")
    status = "" if found.status_code is None else f"HTTP {found.status_code}, "
    reason = f" {translated(found.detail or '')}." if found.status_code is None else ""
    failed = say("The test failed: %(status)s%(count)s ms.", status=status, count=found.latency_ms)
    return Go(there, f"{failed}{reason}{said} {ends}", bad=True)


async def invite(visit: Visit) -> Go:
    found = await destinations.invite(visit, visit.path["id"])
    if found.delivered:
        return Go(_page(visit), say("The question was sent. Once they have agreed, what is matched goes there."))
    says = say("The question was not sent: %(reason)s.", reason=translated(found.error or ""))
    return Go(_page(visit), says, bad=True)


async def rotate(visit: Visit) -> Go:
    """Make a new secret, and show it once."""
    made = await destinations.rotate(visit, visit.path["id"])
    says = say("For 24 hours each delivery is signed with both, the old secret and the new: time to change over.")
    if not made.destination.enabled:
        says = say("Give it to the receiver, then resume the destination.")
    return Go(_page(visit), says, secret=signing_secret(made.destination.label, made.secret))


async def resume(visit: Visit) -> Go:
    hook = await destinations.change(visit, visit.path["id"], wire.DestinationPatch(enabled=True))
    if hook.missed_after is None:
        return Go(_page(visit), say("It is delivered to again."))
    says = say("It is delivered to again. What matched in the meantime can be replayed, below.")
    return Go(_page(visit), says)


async def pause(visit: Visit) -> Go:
    await destinations.change(visit, visit.path["id"], wire.DestinationPatch(enabled=False))
    return Go(_page(visit), say("Paused: nothing is sent, and what matches now is not queued."))


async def decline(visit: Visit) -> Go:
    """Drop the missed matches."""
    await destinations.change(visit, visit.path["id"], wire.DestinationPatch(replay_from=None))
    return Go(_page(visit), say("What was missed stays undelivered."))


async def delete(visit: Visit) -> Go:
    """Delete a destination, once confirmed."""
    hook = await destinations.named(visit, visit.path["id"])
    check_confirmed(visit.form)
    await destinations.delete(visit, hook.id)
    return Go("/destinations", say("%(name)s is deleted, and what waited for it is dropped.", name=hook.label))


async def again(visit: Visit) -> Go:
    """Put past matches into the outbox again."""
    form: Replay = visit.form
    if not form.ids and not form.since:
        raise Wrong(say("Choose deliveries, or say from when on."))
    if form.ids:
        wanted = wire.ReplayRequest(ids=form.ids)
    else:
        until = position(form.until, visit.zone, "until") if form.until else None
        wanted = wire.ReplayRequest(since=position(form.since, visit.zone, "since"), until=until)
    answer = await replay(visit, visit.path["id"], wanted)
    there = f"{_page(visit)}/deliveries"
    says = say_many(
        "%(count)s delivery waits anew, under the id it had.",
        "%(count)s deliveries wait anew, under the ids they had.",
        answer.queued,
    )
    if not answer.queued:
        says = say("Nothing was added: there was no match in it, or it waits already.")
    if answer.next_since is None:
        return Go(there, says)
    rest = {"since": answer.next_since} | ({"until": form.until} if form.until else {})
    return Go(f"{there}?{urlencode(rest)}#replay", f"{says} {say('There is more: go on below.')}")


def position(text: str, zone: ZoneInfo, name: str) -> str:
    """Return a position in the log: an event's id unchanged, a time by the reader's clock as RFC 3339. Raises Wrong.

    >>> position("2026-11-21T10:00", ZoneInfo("Europe/Stockholm"), "since")
    '2026-11-21T09:00:00.000Z'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if len(text) == len("00000000-0000-7000-8000-000000000000"):
            return text
        raise Wrong(**{name: say("Neither a time nor an event's id.")}) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return rfc3339(Millis(round(moment.timestamp() * 1000)))


def _page(visit: Visit) -> str:
    return f"/destinations/{visit.path['id']}"
