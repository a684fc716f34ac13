"""Records as lines of text: columns that fit, events, alerts, answers to `sanderling why`. Pure.

Colour never carries meaning alone: the tier is a word and a change has a sign. Page text is always escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from sanderling_client.receiver.terminal import CUT, cells, fit
from storage.records.event import Context
from storage.records.secrecy import plain
from storage.records.source import ALERTS, SOURCES, Mood, State
from storage.records.tiers import POLLED, TIERS, Colour

_TIER_CODES: Mapping[Colour, str] = {"green": "32", "cyan": "36", "magenta": "35"}
COLOURS: dict[str, str] = {name: _TIER_CODES[tier.colour] for name, tier in TIERS.items()}
COLOURS |= {"notice": "33", "added": "32", "removed": "31", "dim": "2"}
_ISOLATES = dict.fromkeys(range(0x2066, 0x206A))
SIGNS = {"added": "+", "removed": "-"}
TIER, HOST = 6, 24
MOST_CHANGES = 4
LEAST = 6
GAP = 2
ROOM = 24  # minimum cells of the last two columns while another still has more
_MOOD_CODES: Mapping[Mood, str] = {"good": "32", "calm": "36", "warn": "33", "bad": "31"}
_UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))
MATCHED = {
    "change": "added and removed texts",
    "added": "added texts",
    "removed": "removed texts",
    "page": "the whole page, also what did not change",
}
_MOMENT = re.compile(r"\b(\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d) UTC\b")


def pad(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def undirected(text: str) -> str:
    """Remove bidi isolates: a terminal shows them as codes."""
    return text.translate(_ISOLATES)


def moment(text: str, zone: tzinfo | None = None) -> str:
    """Format an RFC 3339 time for people, in local time by default.

    >>> from datetime import UTC
    >>> moment("2026-05-28T23:26:00.000Z", UTC)
    '28 May 2026 23:26'
    """
    there = datetime.fromisoformat(text).astimezone(zone)
    return f"{there.day} {there:%b %Y %H:%M}"


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


def apart(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def ago(moment: str | None, now: datetime) -> str:
    """Return the age of a moment (RFC 3339) in its largest unit.

    >>> ago("2026-04-21T10:00:00.000Z", datetime.fromisoformat("2026-04-21T13:10:00Z")), ago(None, datetime.now())
    ('3h ago', 'never')
    """
    if moment is None:
        return "never"
    return f"{largest((now - datetime.fromisoformat(moment)).total_seconds())} ago"


def within(moment: str, now: datetime) -> str:
    seconds = (datetime.fromisoformat(moment) - now).total_seconds()
    return f"in {largest(seconds)}" if seconds > 0 else "over"


def largest(seconds: float) -> str:
    return span(max(0.0, seconds)).partition(" ")[0]


def short_ids(ids: Sequence[str]) -> Mapping[str, str]:
    """Shorten ids to their shortest unique endings. Ids of the same minute begin alike.

    >>> list(short_ids(["a-8000-000000c1", "a-8000-100000c1", "a-8000-c0ffee"]).values())
    ['c0ffee', '000000c1', '100000c1']
    """
    found: dict[str, str] = {}
    left, letters = list(dict.fromkeys(ids)), LEAST
    while left:
        ends: dict[str, list[str]] = {}
        for id in left:
            ends.setdefault(id[-letters:], []).append(id)
        found.update({same[0]: end for end, same in ends.items() if len(same) == 1 or letters >= len(same[0])})
        left = [id for id in left if id not in found and letters < len(id)]
        letters += 1
    return found


class Cell(NamedTuple):
    """Text with a mood that chooses its colour. right: align as a number. short: its text in a table, if it differs."""

    text: str
    mood: Mood | None = None
    right: bool = False
    short: str = ""


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell | str]], width: int, *, colour: bool) -> Iterator[str]:
    """Yield headings and rows as lines. The last two columns shrink to fit, and ids to their unique ends."""
    whole = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    whole = [[cell._replace(text=plain(" ".join((cell.short or cell.text).split()))) for cell in row] for row in whole]
    for n in [n for n, head in enumerate(heads) if head == "id"]:
        ends = short_ids([row[n].text for row in whole])
        whole = [[*row[:n], row[n]._replace(text=ends[row[n].text]), *row[n + 1 :]] for row in whole]
    wide = [max(cells(head), *(cells(row[n].text) for row in whole)) for n, head in enumerate(heads)]
    for n, least in ((-1, ROOM), (-2, ROOM), (-1, 0)):
        over = sum(wide) + GAP * (len(wide) - 1) - width
        wide[n] = max(min(wide[n], least), wide[n] - max(0, over))
    right = [row.right for row in whole[0]]
    yield _line([Cell(head, right=right[n]) for n, head in enumerate(heads)], wide, "1" if colour else "")
    for row in whole:
        yield _line(row, wide, "", colour=colour)


def piped(row: Sequence[Cell | str]) -> str:
    """Return a row as one line with whole ids and times.

    >>> piped([Cell("2026-04-21T10:00:00.000Z", short="3h ago"), "Prices"])
    '2026-04-21T10:00:00.000Z  Prices'
    """
    texts = (cell.text if isinstance(cell, Cell) else cell for cell in row)
    return "  ".join(plain(" ".join(text.split())) for text in texts).rstrip()


def _line(row: Sequence[Cell], wide: Sequence[int], style: str, *, colour: bool = False) -> str:
    found = []
    for cell, width in zip(row, wide, strict=True):
        text = fit(cell.text, width)
        text = " " * (width - cells(text)) + text if cell.right else pad(text, width)
        code = _MOOD_CODES[cell.mood] if colour and cell.mood else style
        found.append(f"\x1b[{code}m{text}\x1b[0m" if code else text)
    return (" " * GAP).join(found).rstrip()


class Renderer:
    """Turns events into lines of at most `width` cells; `zone` None means local time."""

    def __init__(self, *, width: int = 100, colour: bool = False, zone: tzinfo | None = None) -> None:
        self._width, self._colour, self._zone = width, colour, zone

    def lines(self, event: Mapping[str, Any]) -> Iterator[str]:
        from actors.notification.headline import lines_of, listed_event

        notice = event.get("alert_type")
        kind = "notice" if notice else str(event["source_type"])
        host = str(event.get("source_url") or event.get("url") or "").partition("//")[2].partition("/")[0]
        said = lines_of(listed_event(event))
        text = undirected(f"{notice}: {said.headline}" if notice else said.headline)
        clock = datetime.fromisoformat(str(event["emitted_at"])).astimezone(self._zone).strftime("%H:%M:%S")
        left = self._width - len(clock) - 1 - TIER - 1 - HOST - 1
        tier = self._paint(kind, f"{kind:<{TIER}}")
        yield f"{self._paint('dim', clock)} {tier} {pad(fit(host, HOST), HOST)} {fit(text, left)}"
        diff = event.get("diff") or {}
        indent = " " * (len(clock) + 1)
        room = self._width - len(indent)
        if said.summary and not diff:
            yield indent + fit(undirected(said.summary), room)
        changes = list(changes_of(diff)) if said.summary or not event.get("summary") else []
        for sort, change in changes[:MOST_CHANGES]:
            yield indent + self._paint(sort, f"{SIGNS[sort]} {fit(change, room - 2)}")
        if len(changes) > MOST_CHANGES:
            yield indent + self._paint("dim", fit(f"{CUT} {len(changes) - MOST_CHANGES} more", room))

    def _paint(self, name: str, text: str) -> str:
        return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if self._colour and name in COLOURS else text


def changes_of(diff: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield changes with their places, altered blocks first: they are the most useful."""
    for change in diff.get("changed", ()):
        where = where_of(change.get("context"))
        yield from (("removed", where + change["before"]), ("added", where + change["after"]))
    contexts = diff.get("context") or {}
    for sort in ("added", "removed"):
        places = contexts.get(sort, ())
        for i, text in enumerate(diff.get(sort, ())):
            yield sort, where_of(places[i] if i < len(places) else None) + text


def where_of(context: Mapping[str, str] | None) -> str:
    """Return the place of a change, with a colon; "" if unknown."""
    whole = str(Context(**{part: text for part, text in (context or {}).items() if part in Context.__struct_fields__}))
    return f"{whole}: " if whole else ""


def state_of(alert: Mapping[str, Any]) -> State:
    return ALERTS["active" if alert["enabled"] else "paused"]


def alert_lines(alert: Mapping[str, Any]) -> Iterator[str]:
    yield f"{plain(alert['name'])} ({state_of(alert).word})  {alert['id']}"
    yield f"  query     {plain(alert['filter_query']) or 'everything'}  ({alert['language']})"
    yield f"  of pages  {MATCHED.get(alert['match'], alert['match'])}"
    count, tags = len(alert["source_ids"]), ", ".join(map(plain, alert["tags"]))
    yield f"  sources   {count or ('those with a tag' if tags else 'all')}"
    if tags:
        yield f"  tags      {tags}"
    if alert["private_source_ids"]:
        yield f"  private   {plain(', '.join(alert['private_source_ids']))}: over these, too"
    if alert["channel"]:
        yield f"  channel   {alert['channel']}"
    once = alert["once_per_story"]
    if count != 1 or tags if once is None else once:
        yield "  stories   each once"
    yield f"  notices   {', '.join(alert['notices']) or 'none'}"


def why_lines(
    answer: Mapping[str, Any], *, asked: bool, looked: bool = False, zone: tzinfo | None = None
) -> Iterator[str]:
    title = answer.get("title")
    yield f"{answer['type']}  {plain(answer['url'])}" + (f"  ({plain(title)})" if title else "")
    for reason in answer["reasons"]:
        yield f"  {plain(local(reason['says'], zone))}"
        if reason["text"] and f"“{reason['text'][:80]}”" not in reason["says"]:
            yield f"    “{plain(reason['text'][:120])}”"
    yield f"  {plain(local(answer['state'], zone))}"
    told = any(reason["kind"] == "told" for reason in answer["reasons"])
    if asked and not (looked or told or answer["type"] not in POLLED):
        yield "  (--check also checks it now, if its rate limit allows)"


def local(sentence: str, zone: tzinfo | None = None) -> str:
    """Convert UTC times in a sentence to a time zone, local by default.

    >>> from datetime import timedelta, timezone
    >>> local("Seen on 28 May 2026 23:26 UTC.", timezone(timedelta(hours=2)))
    'Seen on 29 May 2026 01:26.'
    """
    return _MOMENT.sub(lambda found: moment(f"{datetime.strptime(found[1], '%d %b %Y %H:%M')}Z", zone), sentence)


def by_state(sources: Mapping[str, Any]) -> str:
    """Return the number of sources in each state that has any.

    >>> by_state({"states": {"failing": 2, "throttled": 0, "ok": 1200}})
    'failing 2  ok 1,200'
    """
    return "  ".join(f"{SOURCES[name].word} {count:,}" for name, count in sources["states"].items() if count)
