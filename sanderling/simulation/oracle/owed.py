"""What must still arrive: texts in the log, events at clients, deliveries at the receiver."""

from __future__ import annotations

from collections.abc import Iterator

from sanderling.simulation.facts import Facts, Logged
from sanderling.simulation.origins.texts import link, title
from sanderling.simulation.program import ALERT_WORD, OriginPlan


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
