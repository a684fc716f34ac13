"""The promises of the hub and of publications: a confirmed subscriber gets each event, signed, once, until the
subscription ends; all pages together have each event once.
"""

from __future__ import annotations

import hmac
import math
import re
from collections import Counter
from collections.abc import Iterator

from tests.simulation.deliveries.readers import SHARED
from tests.simulation.delivery_records import KeptReader, Receipt
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.clock import disturbed, stepped
from tests.simulation.program import DAY, SERVICE

_TITLE = re.compile(rb"saying \d+")
SETTLES = 60.0
"""Seconds from a reader's confirmation to its subscription, and from its end to the last request."""


ARRIVES = 600.0
"""Seconds within which an event has certainly arrived, without faults."""
HOUR = 3600.0
STEPS = 12 * HOUR
"""More than all clock steps of a world together."""


def owed(facts: Facts) -> Iterator[str]:
    """Yield the events that readers still lack, once no fault is left."""
    letters = facts.letters
    for kept in () if letters is None else letters.readers:
        assert letters is not None
        there = {title.decode() for receipt in kept.receipts if receipt.taken for title in _titles(receipt)}
        since = _surely_since(facts, kept)
        if not kept.confirmed:
            yield f"{kept.label} could not subscribe"
        for logged in facts.log:
            said = letters.said.get(title := logged.event["title"])
            owed = said is not None and said.offered > since and _leased(facts, kept, said.offered)
            if owed and title not in there:
                yield f"{kept.label} was not told of {title}"


def _leased(facts: Facts, kept: KeptReader, at: float) -> bool:
    """Return whether a lease surely runs when an event is offered, and until it has arrived."""
    until = at + (2 * DAY if disturbed(facts, at - HOUR / 2, at + ARRIVES) else ARRIVES)
    for begun in kept.confirmed:
        ahead = sum(max(step.by, 0) for step in facts.program.steps if begun <= step.at < until)
        runs = begun + SETTLES < at and until + ahead < begun + kept.plan.lease
        if runs and not disturbed(facts, begun - 1, begun + SETTLES):
            return True
    return False


def pages(facts: Facts) -> Iterator[str]:
    """A reader of all pages of a publication finds each earlier event once."""
    letters = facts.letters
    if letters is None:
        return
    logged = [title for each in facts.log if (title := each.event["title"]) in letters.said]
    for visit in letters.visits:
        found = Counter(visit.titles)
        for title in logged:
            if letters.said[title].known < visit.began and not found[title]:
                yield f"a visitor at {visit.began:.0f} did not find {title}"
            if found[title] > 1:
                yield f"a visitor at {visit.began:.0f} found {title} {found[title]} times"


def _surely_since(facts: Facts, kept: KeptReader) -> float:
    """Return since when a subscription is surely stored: a crash may have come before the commit."""
    since = kept.told_since()
    later = [at for at in kept.confirmed if at >= since and not disturbed(facts, at - 1, at + SETTLES)]
    return min(later, default=math.inf) + SETTLES


def signed(facts: Facts) -> Iterator[str]:
    """Each request is signed with the reader's secret (WebSub, 8), and names its topic and the hub."""
    for kept, receipt in _all(facts):
        token = hmac.digest(SHARED.encode(), receipt.body, "sha256").hex()
        if receipt.headers.get("x-hub-signature") != f"sha256={token}":
            yield f"{kept.label} was told at {receipt.at:.0f} without its signature"
        if 'rel="hub"' not in receipt.headers.get("link", "") or f".{kept.plan.format}>" not in receipt.headers["link"]:
            yield f"{kept.label} was told at {receipt.at:.0f} without the topic"


def once(facts: Facts) -> Iterator[str]:
    """A reader that accepted an event does not get it again, except after a crash; JSON Feed is always sent whole."""
    for kept in () if facts.letters is None else facts.letters.readers:
        first: dict[bytes, Receipt] = {}
        for receipt in kept.receipts if kept.plan.format != "json" else ():
            for title in _titles(receipt):
                before = first.get(title)
                if before is not None and not _excused(facts, kept, before.at):
                    yield f"{kept.label} was told of {title.decode()} at {before.at:.0f} and {receipt.at:.0f}"
                if receipt.taken and receipt.clear:
                    first.setdefault(title, receipt)


def ended(facts: Facts) -> Iterator[str]:
    """A reader that has not confirmed, or has unsubscribed, gets nothing."""
    for kept, receipt in _all(facts):
        begun = [at for at in kept.confirmed if at <= receipt.at]
        over = [at for at in kept.ended if at <= receipt.at]
        since = max(over, default=-SETTLES)
        if not begun or (
            max(begun) < since and receipt.at > since + SETTLES and not _unsure(facts, kept, since, receipt.at)
        ):
            yield f"{kept.label} was told at {receipt.at:.0f}, and wants to be told no more since {since:.0f}"


def _unsure(facts: Facts, kept: KeptReader, since: float, at: float) -> bool:
    """Return whether the hub may not know of an end: it has not arrived, or the hub's clock was set during a lease."""
    if not kept.plan.renewed:
        return at < since + 2 * SETTLES or (at < since + STEPS and stepped(facts, 0, at))
    return disturbed(facts, since - 60, since + SETTLES) or _faults(facts, kept, since)


def _excused(facts: Facts, kept: KeptReader, at: float) -> bool:
    return disturbed(facts, at - 5, at + SETTLES) or _faults(facts, kept, at)


def _faults(facts: Facts, kept: KeptReader, at: float) -> bool:
    there = [*facts.program.faults_at(kept.plan.host), *facts.program.faults_at(SERVICE)]
    return any(fault.at < at + SETTLES and fault.ends > at - SETTLES and fault.kind != "gone" for fault in there)


def _titles(receipt: Receipt) -> list[bytes]:
    return list(dict.fromkeys(_TITLE.findall(receipt.body)))


def _all(facts: Facts) -> Iterator[tuple[KeptReader, Receipt]]:
    for kept in () if facts.letters is None else facts.letters.readers:
        for receipt in kept.receipts:
            yield kept, receipt
