"""The report of a plan: totals, then everything inexact or impossible, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from extras.migrate.plan import Finding, Grade, Kind, Plan, PlannedAlert, host_of, listed, wire

NAMES: dict[Kind, str] = {
    "urls": "a list of addresses",
    "csv": "a table of addresses",
    "opml": "a list of feeds (OPML)",
    "changedetection": "changedetection.io",
    "urlwatch": "urlwatch or webchanges",
    "sanderling": "an instance of Sanderling",
}
SHOWN = 20
"""Maximum alerts listed."""
PLACES = 4
"""Maximum places listed per finding."""


def sums(plan: Plan) -> str:
    """Return the totals as text.

    >>> sums(Plan("urls"))
    'nothing'
    """
    paused = sum(not source.enabled for source in plan.sources)
    parts = [
        _some(len(plan.sources), "source") + (f" ({paused} paused)" if paused else ""),
        _some(len(plan.alerts), "alert"),
        _some(sum(len(alert.destinations) for alert in plan.alerts), "destination"),
    ]
    return ", ".join(part for part in parts if part) or "nothing"


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def as_text(plan: Plan) -> Iterator[str]:
    yield f"This is {NAMES[plan.kind]}. It becomes {sums(plan)}."
    exact: dict[str, int] = {}
    for finding in plan.findings:
        if finding.grade == "exact":
            exact[finding.what] = exact.get(finding.what, 0) + 1
    if exact:
        yield "Exactly: " + ", ".join(f"{what} ({number})" for what, number in exact.items()) + "."
    yield from _section(plan.findings, "approximated", "Approximately:")
    yield from _section(plan.findings, "impossible", "Not at all:")
    if plan.alerts:
        yield "Alerts:"
        yield from (f"  {_alert(alert)}" for alert in plan.alerts[:SHOWN])
    if len(plan.alerts) > SHOWN:
        yield f"  and {len(plan.alerts) - SHOWN} more"


def _alert(alert: PlannedAlert) -> str:
    hosts = ", ".join(host_of(one) for one in alert.destinations)
    over = f"{alert.body.name}, over {_some(len(alert.urls), 'source')}"
    return f"{over}, to {hosts}" if hosts else over


def _section(findings: Sequence[Finding], grade: Grade, heading: str) -> Iterator[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        if finding.grade == grade:
            alike.setdefault((finding.what, finding.says), []).append(finding.place)
    if alike:
        yield heading
    for (what, says), places in alike.items():
        yield f"  {what}: {says}"
        yield f"    {listed(list(dict.fromkeys(places)), PLACES)}"


def as_json(plan: Plan) -> Iterator[str]:
    for source in plan.sources:
        shown = wire(replace(source.body, headers=None))
        asked = {"has_headers": True} if source.body.headers else {}
        yield _line({"source": shown | asked, "place": source.place, "enabled": source.enabled})
    for alert in plan.alerts:
        hosts = [host_of(one) for one in alert.destinations]
        yield _line({"alert": wire(alert.body), "place": alert.place, "urls": alert.urls, "destinations": hosts})
    for finding in plan.findings:
        yield _line({"finding": msgspec.to_builtins(finding)})
    yield _line({"plan": {"kind": plan.kind} | {grade: plan.count(grade) for grade in GRADES} | numbers(plan)})


GRADES: tuple[Grade, ...] = ("exact", "approximated", "impossible")


def numbers(plan: Plan) -> dict[str, int]:
    destinations = sum(len(alert.destinations) for alert in plan.alerts)
    return {"sources": len(plan.sources), "alerts": len(plan.alerts), "destinations": destinations}


def _line(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
