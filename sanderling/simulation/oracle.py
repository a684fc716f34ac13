"""The promises of the product as checks over what was seen from outside. It knows nothing of the product's code.

Each check yields sentences that say what broke and where. `owed` is also what the run waits for before it ends
the world: whoever still owes something when patience runs out has broken the promise of liveness.
"""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from sanderling.simulation.clients import position
from sanderling.simulation.facts import Facts, Logged
from sanderling.simulation.origins import link, title
from sanderling.simulation.program import ALERT_WORD, OriginPlan

HOST_BURST = 12
"""Most requests to one host within ten seconds: one a second, and what a crash may make it forget."""
LONGEST_SILENCE = 65 * 60.0
"""Tens of minutes, never hours: the longest time without a look at a source in quiet times (45 min, and jitter)."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise."""

    promise: str
    what: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.what}"


def judge(facts: Facts) -> list[Violation]:
    """Return every promise that was broken, with a sentence each."""
    return [Violation(promise, what) for promise, check in PROMISES.items() for what in check(facts)]


def owed(facts: Facts) -> Iterator[str]:
    """Yield what must still arrive: texts in the log, events at clients, deliveries at the receiver."""
    for plan in facts.program.origins:
        if plan.host not in facts.added:
            yield f"{plan.url} could not be added: {facts.refused.get(plan.host, 'no answer')}"
        elif plan.tier == "feed":
            yield from _owed_entries(facts, plan)
        elif plan.tier == "html":
            yield from _owed_blocks(facts, plan)
        else:
            yield from _owed_frames(facts, plan)
    newest = facts.log[-1].event["id"] if facts.log else None
    for name, taken in facts.taken.items():
        if newest is not None and taken and taken[-1].id != newest:
            yield f"{name} stands at {taken[-1].id}, the log at {newest}"
    arrived = {receipt.headers.get("webhook-id") for receipt in facts.receipts if receipt.status == 204}
    for logged in _alarming(facts):
        if logged.event["id"] not in arrived:
            yield f"{logged.event['id']} ({logged.event['title']}) did not reach the receiver"


# --- what is owed ----------------------------------------------------------------------------------------------------


def _baseline(facts: Facts, plan: OriginPlan) -> float | None:
    """When the service surely knew what was there: it asked for what had changed since."""
    return next((seen.at for seen in facts.seen[plan.host] if seen.conditional and seen.status in (200, 304)), None)


def _owed_entries(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    since = _baseline(facts, plan)
    if since is None:
        if plan.texts:
            yield f"{plan.host}: never asked what is new"
        return
    there = {logged.event["url"] for logged in facts.of(plan)}
    for number, text in enumerate(plan.texts):
        if text.at > since and link(plan, number) not in there and not _slipped(facts, plan, number):
            yield f"{plan.host}: entry {number} is not in the log"


def _slipped(facts: Facts, plan: OriginPlan, number: int) -> bool:
    """Return whether an entry left the feed's window before the origin answered any look well."""
    if number + plan.window >= len(plan.texts):
        return False
    came, left = plan.texts[number].at, plan.texts[number + plan.window].at
    return not any(came <= seen.at < left and seen.status == 200 for seen in facts.seen[plan.host]) or facts.troubled(
        came, left, plan.host
    )


def _owed_blocks(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    added = facts.added[plan.host].at
    newest = {number % plan.window: number for number, text in enumerate(plan.texts) if text.at > added}
    if not newest:
        return
    events = facts.of(plan)
    content = events[-1].event["content"] if events else ""
    for number in newest.values():
        if title(plan, number) not in content:
            yield f"{plan.host}: change {number} is not in the page's last event"


def _owed_frames(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    there = {logged.event["url"] for logged in facts.of(plan)}
    for at, number in facts.frames[plan.host]:
        wanted = plan.texts[number].alarming and link(plan, number) not in there
        if wanted and not facts.troubled(at - 180, at + 180, plan.host):
            yield f"{plan.host}: frame {number} is not in the log"


def _alarming(facts: Facts) -> Iterator[Logged]:
    """Yield the events that the alert surely matches (a page's event may carry the word in an old block)."""
    for logged in facts.log:
        event = logged.event
        if event["source_type"] != "html" and "alert_type" not in event and ALERT_WORD in event["content"].lower():
            yield logged


# --- the promises ----------------------------------------------------------------------------------------------------


def _stuck(facts: Facts) -> Iterator[str]:
    yield from facts.overdue
    yield from facts.deaf


def _twice(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        if plan.tier == "html":
            continue
        for url, times in Counter(logged.event["url"] for logged in facts.of(plan)).items():
            if times > 1:
                yield f"{url} is in the log {times} times"


def _invented(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        known = {link(plan, number) for number in range(len(plan.texts))}
        if plan.tier != "html":
            yield from (f"{e.event['url']} was never published" for e in facts.of(plan) if e.event["url"] not in known)
        if plan.tier == "push":
            unwanted = (e for e in facts.of(plan) if ALERT_WORD not in e.event["content"].lower())
            yield from (f"{e.event['url']} matches no alert" for e in unwanted)


def _order(facts: Facts) -> Iterator[str]:
    for before, after in zip(facts.log, facts.log[1:], strict=False):
        if after.seq <= before.seq or after.event["id"] <= before.event["id"]:
            yield f"{after.event['id']} comes after {before.event['id']}"
    for logged in facts.log:
        if position(logged.event["id"]) != logged.seq:
            yield f"{logged.event['id']} does not name its position {logged.seq}"


def _signed(facts: Facts) -> Iterator[str]:
    if facts.jwks is None:
        yield "no key set was given"
        return
    keys = {key["kid"]: VerifyKey(_unbase(key["x"])) for key in facts.jwks["keys"]}
    for logged in facts.log:
        fault = _signature_fault(dict(logged.event), keys)
        if fault:
            yield f"{logged.event['id']}: {fault}"


def _signature_fault(event: dict[str, Any], keys: dict[str, VerifyKey]) -> str:
    signature = event.pop("signature", "")
    key = keys.get(event.get("key_id", ""))
    if key is None:
        return "signed with a key that is not published"
    # Without floats and with ASCII names, sorted compact JSON is the RFC 8785 form.
    canonical = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    try:
        key.verify(canonical, _unbase(signature))
    except (BadSignatureError, ValueError):
        return "the signature is wrong"
    return ""


def _unbase(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _cursors(facts: Facts) -> Iterator[str]:
    ids = [logged.event["id"] for logged in facts.log]
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for name, taken in facts.taken.items():
        if not taken:
            continue
        got = [event.id for event in taken]
        if got[0] not in bodies:
            yield f"{name} was given {got[0]}, which is not in the log"
            continue
        first = ids.index(got[0])
        expected = ids[first : first + len(got)]
        wrong = next((n for n, (had, due) in enumerate(zip(got, expected, strict=False)) if had != due), None)
        if wrong is not None:
            yield f"{name} was given {got[wrong]} where {expected[wrong]} was due, as its event {wrong}"
        elif len(expected) < len(got):
            yield f"{name} was given {got[len(expected)]}, which is not in the log"
        yield from (
            f"{name}: other bytes than the log's for {e.id}" for e in taken if bodies.get(e.id, e.body) != e.body
        )


def _pages(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        if plan.tier != "html" or plan.host not in facts.added:
            continue
        events = facts.of(plan)
        asked = facts.added[plan.host].asked_at
        changes = sum(text.at > asked for text in plan.texts)
        if len(events) > changes:
            yield f"{plan.host}: {len(events)} events for {changes} changes"
        for logged in events:
            if not logged.event.get("delta", {}).get("ops"):
                yield f"{logged.event['id']}: a page's event without a delta"


def _deliveries(facts: Facts) -> Iterator[str]:
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for receipt in facts.receipts:
        event_id = receipt.headers.get("webhook-id", "")
        if event_id not in bodies:
            yield f"{event_id or 'something without an id'} was delivered and is not in the log"
        elif bodies[event_id] != receipt.body:
            yield f"{event_id} was delivered with other bytes than the log's"
        elif ALERT_WORD not in receipt.body.decode().lower():
            yield f"{event_id} was delivered and does not match the alert"


def _politeness(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        times = [seen.at for seen in facts.seen.get(plan.host, ())]
        for n, at in enumerate(times):
            many = bisect_right(times, at + 10) - n
            if many > HOST_BURST:
                yield f"{plan.host}: {many} requests within 10 s, at {at:.0f} s"
                break


def _cadence(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        if plan.tier == "push" or plan.host not in facts.added:
            continue
        looks = [facts.added[plan.host].at]
        looks += [seen.at for seen in facts.seen[plan.host] if seen.path != "/robots.txt" and seen.at > looks[0]]
        for before, after in zip(looks, [*looks[1:], facts.ends], strict=True):
            if after - before > LONGEST_SILENCE and not facts.troubled(before - 3600, after, plan.host):
                yield f"{plan.host}: no look between {before:.0f} s and {after:.0f} s"


def _health(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        told = facts.health.get(plan.host)
        if plan.host not in facts.added:
            continue
        if told is None:
            yield f"{plan.host}: no health was told"
        elif told["flag"] != "ok" or (not plan.texts and told["score"] != 1.0):
            yield f"{plan.host}: {told['flag']}, {told['score']}: {told['reason']}"


PROMISES: dict[str, Callable[[Facts], Iterator[str]]] = {
    "nobody is stuck": _stuck,
    "nothing is emitted twice": _twice,
    "nothing is invented": _invented,
    "ids increase in commit order": _order,
    "every event verifies": _signed,
    "a cursor never misses": _cursors,
    "a page's event tells a change": _pages,
    "what is delivered is what is in the log": _deliveries,
    "politeness": _politeness,
    "never hours": _cadence,
    "quiet is healthy": _health,
}
