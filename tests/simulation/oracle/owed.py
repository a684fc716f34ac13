"""Debts at the end: texts in the log, events at clients, deliveries at the receiver."""

from __future__ import annotations

from collections.abc import Iterator

from storage.records.event import RESET
from tests.simulation.facts import Facts, Logged
from tests.simulation.oracle import feeds, lists, pages, scenes, streams
from tests.simulation.oracle.letters import feeds as subscribed
from tests.simulation.oracle.letters import wanted
from tests.simulation.origins.texts import link
from tests.simulation.program import ALERT_WORD, OriginPlan


def owed(facts: Facts) -> Iterator[str]:
    for plan in facts.program.origins:
        if plan.url not in facts.added:
            yield f"{plan.url} could not be added: {facts.refused.get(plan.url, 'no answer')}"
        elif plan.tier == "feed":
            yield from feeds.missing(facts, plan)
        elif plan.style == "list":
            yield from lists.missing(facts, plan)
        elif plan.scenes:
            yield from scenes.missing(facts, plan)
        elif plan.tier == "html":
            yield from pages.missing(facts, plan)
        else:
            yield from _owed_frames(facts, plan)
    yield from wanted.owed(facts)
    yield from subscribed.owed(facts)
    for name, taken in facts.taken.items():
        newest = next((logged for logged in reversed(facts.log) if streams.wants(facts, name, logged)), None)
        if newest is not None and taken and taken[-1].id != newest.event["id"]:
            yield f"{name} stands at {taken[-1].id}, the log at {newest.event['id']}"
    yield from _owed_letters(facts)


def _owed_letters(facts: Facts) -> Iterator[str]:
    places = [f"/{number or ''}" for number in range(facts.program.hooks)]
    there = {(receipt.path, receipt.headers.get("webhook-id")) for receipt in facts.receipts if receipt.status == 204}
    for logged in _alarming(facts):
        for place in places:
            if (place, logged.event["id"]) not in there:
                yield f"{logged.event['id']} ({logged.event['title']}) did not reach the receiver at {place}"


def _owed_frames(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    there = {logged.event["url"] for logged in facts.of(plan)}
    for at, number in facts.frames[plan.url]:
        text = plan.texts[number]
        asked = any(alert.plan.word in text.words for alert in facts.alerts if alert.at < at)
        if (
            (text.alarming or asked)
            and link(plan, number) not in there
            and at > facts.added[plan.url].at
            and not facts.deaf_to(at - 180, at + 180, plan)
            and not facts.meddled(at - 60, at + 2, plan)  # during a reconnection
        ):
            yield f"{plan.name}: frame {number} is not in the log"


def _alarming(facts: Facts) -> Iterator[Logged]:
    """Yield the events that the alert surely matches (a page's event may carry the word in an old block).

    It gets none of a source with a session: that is private, and the alert over all sources names none.
    """
    private = {facts.added[plan.url].id for plan in facts.program.origins if plan.session and plan.url in facts.added}
    for logged in facts.log:
        event = logged.event
        if event["source_id"] in private:
            continue
        known = event["source_type"] != "html" and "alert_type" not in event and RESET not in event["tags"]
        if known and ALERT_WORD in event["content"].lower():
            yield logged
