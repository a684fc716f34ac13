"""The promises about followed lists: each new item once, with its own page's text, within the budget."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tests.simulation.facts import Facts, Logged
from tests.simulation.origins.lists import item_text
from tests.simulation.origins.texts import numbers_in
from tests.simulation.program import OriginPlan, machine_of

_ITEM = re.compile(r"/items/([0-9]+)$")
_HOUR = 3600.0


def missing(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    """Yield the new items of the watched time without an event."""
    told = {_number(logged) for logged in facts.of(plan)}
    for number, text in enumerate(plan.texts):
        if facts.added[plan.url].at < text.at < facts.ends and number not in told:
            yield f"{plan.name}: item {number} is not told"


def once(facts: Facts) -> Iterator[str]:
    """No item is reported twice, and none of the first check."""
    for plan in _lists(facts):
        times = Counter(_number(logged) for logged in facts.of(plan))
        for number, count in times.items():
            if count > 1:
                yield f"{plan.name}: item {number} is told {count} times"
            if number < 0 or plan.texts[number].at < facts.added[plan.url].asked_at:
                yield f"{plan.name}: item {number} is told, and is not new"


def own(facts: Facts) -> Iterator[str]:
    """An item has the text of its own page, and none of another's; it lacks the text only with a reason."""
    for plan in _lists(facts):
        for logged in facts.of(plan):
            number, content = _number(logged), logged.event["content"]
            strange = set(numbers_in(plan, f"{logged.event['title']} {content}")) - {number}
            if strange:
                yield f"{plan.name}: item {number} has text of item {min(strange)}"
            if number >= 0 and item_text(plan, number) not in content:
                found = plan.texts[number].at
                if "unread" not in logged.event or not facts.troubled(found - 60, logged.at, plan):
                    yield f"{plan.name}: item {number} is reported without its text: {logged.event.get('unread')}"


def within(facts: Facts) -> Iterator[str]:
    """The pages fetched in an hour stay within the budget, or twice that across two hours. A crash forgets one hour."""
    most = 2 * facts.program.hops
    for plan in _lists(facts):
        machines = {plan.machine, machine_of(plan.other)}
        asked = sorted(seen.at for name in machines for seen in facts.seen.get(name, ()) if _ITEM.search(seen.path))
        for at in asked:
            made = sum(at <= other < at + _HOUR for other in asked)
            lost = sum(at <= life.ended < at + _HOUR for life in facts.lives)
            if made > most + lost:
                yield f"{plan.name}: {made} pages are fetched in the hour from {at:.0f} s"
                break


def _lists(facts: Facts) -> list[OriginPlan]:
    return [plan for plan in facts.program.origins if plan.style == "list" and plan.url in facts.added]


def _number(logged: Logged) -> int:
    """Return the number of the item in an event, -1 for none."""
    found = _ITEM.search(logged.event["url"])
    return -1 if found is None else int(found[1])
