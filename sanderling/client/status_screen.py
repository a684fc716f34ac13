"""The screen of `sanderling status`: totals and the worst parts, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sanderling.client.rendering import fit, pad
from storage.records.states import PARTS, SOURCES

WORST = 10
_UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))
PATH, STATE, HEALTH = 24, 12, 5
TOTALS = ("looks", "events", "matches", "attempts", "http_requests")
WORDS = {"http_requests": "API requests"}
"""Labels that replace API names. Checks are requests too, but outgoing ones."""


def span(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> span(1_051_200), span(75), span(0.4)
    ('12d 4h', '1m 15s', '0s')
    """
    left, parts = int(seconds), list[str]()
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0") or len(parts) == 1) or "0s"


def seconds_between(earlier: str, later: str) -> float:
    """Both moments are RFC 3339."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def by_state(sources: Mapping[str, Any]) -> str:
    """Return the number of sources in each state that has any.

    >>> by_state({"states": {"failing": 2, "throttled": 0, "ok": 1200}})
    'failing 2  ok 1,200'
    """
    return "  ".join(f"{SOURCES[name].word} {count:,}" for name, count in sources["states"].items() if count)


def screen(overview: Mapping[str, Any], worst: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    at, ready = overview["at"], "ready" if overview["ready"] else "NOT READY"
    drained = ", drained" if overview["draining"] else ""
    yield f"Sanderling {overview['version']}  {ready}{drained}  up {span(seconds_between(overview['started_at'], at))}"
    yield ""
    sources = overview["sources"]
    yield f"{'sources':<13} total {sources['total']:,}  {by_state(sources)}"
    yield _line("health", sources, ("ok", "degraded", "rotten"))
    yield _line("actors", sources, ("running", "backoff", "quarantined"))
    yield _line("destinations", overview["destinations"])
    yield from _lines(
        "since start", overview["totals"], width, ("looks", "events", "matches", "attempts", "http_requests")
    )
    yield from _lines("waiting", overview["queues"], width)
    yield f"{'live':<13} {overview['streams']:,} streams  loop {overview['loop_lag_s'] * 1000:.0f} ms late"
    for node in overview.get("nodes", ()):
        yield _node(node)[:width]
        if gone := node.get("missing"):
            says = f"events from {gone['after']} to {gone['until']} were seen and are gone by a failover"
            yield fit(f"! {node['name'].rpartition('-')[0]}: {says}", width)
    if replica := overview.get("replica"):
        yield _replica(replica, at)[:width]
    if late := overview.get("matching", {}).get("says"):
        yield fit(f"! matching: {late}", width)
    for part, says in overview["failing"].items():
        yield fit(f"! {part}: {says}", width)
    if passed := overview.get("looks", {}).get("says"):
        yield fit(f"! looks: {passed}", width)
    if worst:
        yield ""
        yield f"{'worst':<{PATH}} {'state':<{STATE}} {'hlth':<{HEALTH}} error"[:width]
    for row in worst:
        yield _row(row, width)


def _replica(replica: Mapping[str, Any], at: str) -> str:
    told = replica["told_at"]
    far = "nothing is in it yet" if told is None else f"{span(seconds_between(told, at))} behind"
    return f"{'! replica:' if replica['says'] else 'replica':<13} {far}  {replica['says'] or replica['place']}"


def _node(node: Mapping[str, Any]) -> str:
    name = node["name"].rpartition("-")[0] + (" (this)" if node["this"] else "")
    if not node["inside"]:
        return f"{'node':<13} {name}  not inside"
    if node.get("role") == "web":
        return f"{'node':<13} {name}  web only  streams {node['streams']:,}"
    return f"{'node':<13} {name}  sources {node['sources']:,}  overdue {node['overdue']:,}  streams {node['streams']:,}"


def _line(name: str, figures: Mapping[str, int], wanted: Sequence[str] = ()) -> str:
    shown = {key: figures[key] for key in wanted or figures if key in figures}
    return f"{name:<13} " + "  ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in shown.items())


def _lines(name: str, figures: Mapping[str, int], width: int, wanted: Sequence[str] = ()) -> Iterator[str]:
    """Yield figures, wrapped into as many lines as needed."""
    line = f"{name:<13}"
    for key in [key for key in wanted or figures if key in figures]:
        part = f"  {WORDS.get(key, key.replace('_', ' '))} {figures[key]:,}"
        if len(line) > 13 and len(line) + len(part) - 1 > width:
            yield line
            line = " " * 13
        line += part[1:] if len(line) == 13 else part
    yield line


def _row(row: Mapping[str, Any], width: int) -> str:
    kind, _, id = str(row["path"]).partition("/")
    path = f"{kind}/…{id[-6:]}" if id else kind
    health = "" if row["health"] is None else f"{row['health']:.2f}"
    says = "  ".join(part for part in (row.get("title") or row["name"], row["error"]) if part)
    left = width - PATH - STATE - HEALTH - 3
    state = PARTS[row["state"]].word
    return f"{pad(fit(path, PATH), PATH)} {state:<{STATE}} {health:<{HEALTH}} {fit(says, left)}".rstrip()
