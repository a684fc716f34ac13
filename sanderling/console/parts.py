"""One part of the tree: the actions on it, all its details, and why a source reported something, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, ClassVar, Final

from textual.binding import BindingType

from sanderling.client.lines import apart, why_lines
from sanderling.console import text as ui
from sanderling.console.lists import LogScreen, event_line
from sanderling.console.view import BACK, PageScreen, ReadingView, View

ACTS: Final[Mapping[str, tuple[str, str]]] = {
    "check": ("Check it now", "check requested"),
    "restart": ("Restart it", "it was restarted"),
    "release": ("Let it try again at once", "released"),
    "disable": ("Pause it", "paused"),
    "enable": ("Resume it", "resumed"),
}
"""The question, and the message afterwards."""
OF_A_PART: Final = "Restart it, and all that was started after it"
ACT_KEYS: list[BindingType] = [
    ui.key("r", "act('restart')", "restart", "restart it"),
    ui.key("c", "act('check')", "check", "check a source now, as far as politeness allows"),
    ui.key("u", "act('release')", "release", "end a quarantine, or the wait after a crash"),
    ui.key("e", "act('disable')", "pause", "pause a source"),
    ui.key("e", "act('enable')", "resume", "resume a source"),
    ui.key("x", "why", "why", "why a source reported something, or nothing"),
]
EVENTS = 5
LABEL = 13
LOOKS = 20  # checks shown as marks
_PLACES = 5
_OF_THE_SOURCE = ("failing", "resting", "throttled", "overdue", "new")
"""States of the source. `since` belongs to its actor, whose state did not change."""
CAUSES = {"reach": "answers", "yield": "brings news", "partial": "readable", "stuck": "can recover"}
"""The parts of a score, worded as on the dashboard."""


def is_source(row: Mapping[str, Any]) -> bool:
    return str(row["path"]).startswith("sources/")


def possible(row: Mapping[str, Any] | None) -> Collection[str]:
    """Return the actions that a row allows now.

    >>> possible({"path": "sources/1", "state": "paused"}), sorted(possible({"path": "log", "state": "backoff"}))
    (['enable'], ['release', 'restart'])
    """
    if row is None or row["state"] == "gone":
        return []
    found = ["restart"] if row["state"] not in ("paused", "ended") else []
    if row["state"] in ("quarantined", "backoff"):
        found.append("release")
    if is_source(row):
        found += ["enable"] if row["state"] == "paused" else ["check", "disable"]
    return found


class ActingView(View):
    """A screen with a part of the tree to act on."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self.subject()
        if action == "act":
            return parameters[0] in possible(row)
        return row is not None and is_source(row) if action == "why" else super().check_action(action, parameters)

    def action_act(self, name: str) -> None:
        if (row := self.subject()) is not None:
            question, done = ACTS[name]
            if name == "restart" and row["kind"] == "part":
                question = OF_A_PART
            who = row.get("title") or row["name"] or row["path"]
            self.send(f"{question}?  {who}", f"/v1/admin/tree/{row['path']}/{name}", f"{who}: {done}")

    def action_why(self) -> None:
        if (row := self.subject()) is not None:
            path = f"/v1/sources/{row['path'].partition('/')[2]}/why"
            self.app.push_screen(PageScreen(row["name"], path, _why_page))


class PartScreen(ActingView, ReadingView):
    """A part of the tree: identity, health, reasons, recent activity."""

    BINDINGS: ClassVar[list[BindingType]] = [*ACT_KEYS, ui.key("L", "log", "log", "its log lines"), BACK]
    EVERY = 2

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.part: Mapping[str, Any] | None = None
        self.events: Sequence[Mapping[str, Any]] = ()

    def change(self, path: str) -> None:
        if path == self.path:
            self._beats = 0

    async def read(self) -> None:
        link = self.console_app.link
        self.part = await link.get(f"/v1/admin/tree/{self.path}")
        self.redraw()
        if (source := self.part["source"]) is not None:
            self.events = (await link.get("/v1/events", source=source["id"], order="desc", limit=EVENTS))["events"]
            self.redraw()

    def whole(self, width: int) -> Sequence[ui.Line]:
        if self.part is None:
            return [ui.line_of(f"{self.path} …", width, "dim")]
        return list(part_lines(self.part, self.events, self.now, width))

    def subject(self) -> Mapping[str, Any] | None:
        return None if self.part is None else self.part["row"]

    def action_log(self) -> None:
        self.app.push_screen(LogScreen(self.path))


def _why_page(answer: Mapping[str, Any], width: int) -> Sequence[ui.Line]:
    first, *rest = why_lines(answer, asked=False)
    found = [ui.line_of(first, width, "bold")]
    for text in rest:
        indent = " " * (len(text) - len(text.lstrip()))
        found += [ui.line_of(indent + part, width) for part in wrap(text.strip(), max(20, width - len(indent) - 1))]
    return found


def row_lines(row: Mapping[str, Any], now: str, width: int) -> Iterator[ui.Line]:
    state = ui.state_of(row)
    yield [(ui.fit(row["path"], width), "bold")]
    if row.get("title"):
        yield [(ui.fit(row["title"], width), "bold")]
    if row["name"]:
        yield [(ui.fit(row["name"], width), "")]
    since = "" if row["state"] in _OF_THE_SOURCE else f" for {ui.short(apart(row['since'], now))}"
    mark = "" if state.short == state.word else state.short
    yield from _field("state", f"{state.word}{since}. {state.says}", width, ui.STYLES[state.mood], mark=mark)
    if row["error"]:
        yield from _field("last error", row["error"], width, ui.BAD)


def part_lines(part: Mapping[str, Any], events: Sequence[Mapping[str, Any]], now: str, width: int) -> Iterator[ui.Line]:
    row, source = part["row"], part["source"]
    yield from row_lines(row, now, width)
    if source is not None:
        yield from _watching(source, row, now, width)
    yield from _task(part, now, width)
    if source is not None:
        yield from _title("last events", width)
        yield from (event_line(event, width) for event in events)
        if not events:
            yield ui.line_of("none in the history that is kept", width, ui.FAINT)


def _field(label: str, text: str, width: int, style: str = "", *, mark: str = "") -> Iterator[ui.Line]:
    """Yield a labelled text, wrapped. It may come from a hostile page."""
    room = max(10, width - LABEL - 1)
    text = f"{mark}  {text}" if mark else text
    for number, line in enumerate(wrap(ui.safe(text), room) or [""]):
        yield [(ui.fit(f" {label}" if not number else "", LABEL), ui.FAINT), (ui.fit(line, width - LABEL), style)]


def _title(words: str, width: int) -> Iterator[ui.Line]:
    yield [("", "")]
    yield [(ui.fit(f"── {words} " + "─" * width, width).replace("…", "─"), ui.FAINT)]


def _watching(source: Mapping[str, Any], row: Mapping[str, Any], now: str, width: int) -> Iterator[ui.Line]:
    if source["tags"]:
        yield from _field("tags", ", ".join(source["tags"]), width)
    yield from _title(f"health {row['health']:.2f} {row['flag']}", width)
    yield from _field("why", source["reason"], width)
    for part in source["health"]:
        style, mark = (ui.POOR, "-") if part["left"] < 1 else (ui.FAINT, " ")
        yield from _field(CAUSES[part["cause"]], f"{part['left']:.2f}  {part['says']}", width, style, mark=mark)
    yield from _title("cadence", width)
    states = [ui.VERDICTS[look["verdict"]] for look in source["trail"] for _ in range(min(look["looks"], LOOKS))]
    marks = [ui.piece(state) for state in reversed(states[:LOOKS])]
    told = " (newest last)" if marks else "none yet"
    yield [(ui.fit(" checks", LABEL), ui.FAINT), *marks, (ui.fit(told, max(0, width - LABEL - len(marks))), ui.FAINT)]
    if source["trail"]:
        there = [ui.VERDICTS[verdict] for verdict in dict.fromkeys(look["verdict"] for look in source["trail"])]
        yield [(ui.fit(" " * LABEL + "  ".join(f"{state.short} {state.word}" for state in there), width), ui.FAINT)]
    yield from _field("next check", f"in {ui.until(row['next'], now)}: {source['next_look']}", width)
    pace = f"every {ui.short(source['interval_s'])} at its present pace; checks {source['looks']:,}, "
    quiet = f"the last {source['unchanged']:,} without a change, " if source["unchanged"] else ""
    pace += f"{quiet}events {source['events']:,}"
    yield from _field("pace", pace, width)
    yield from _field("7 days", source["covered"], width)
    yield from _field("last good", ui.ago(source["last_success_at"], now), width)
    yield from _field("last event", ui.ago(source["last_event_at"], now), width)
    yield from _field("breaker", _breaker(source, now), width, "" if source["breaker"] == "closed" else ui.BAD)
    yield from _field("exchange", _exchange(source, now), width)
    held = source["held"]
    yield from _field("log", f"{held['events']:,} events, about {held['bytes'] / 1024:,.1f} KiB", width)


def _breaker(source: Mapping[str, Any], now: str) -> str:
    if source["breaker"] == "closed" and not source["failures"]:
        return "closed"
    again = f", tries again in {ui.until(source['retry_at'], now)}" if source["retry_at"] else ""
    return f"{source['breaker']}, {source['failures']} failures in a row{again}"


def _exchange(source: Mapping[str, Any], now: str) -> str:
    if not source["trail"]:
        return "none yet"
    last = source["trail"][0]
    status = "no answer" if last["status"] is None else f"HTTP {last['status']}"
    alike = f", {last['looks']} alike" if last["looks"] > 1 else ""
    verdict = last["verdict"].replace("_", " ")
    return f"{status}, {last['bytes']:,} bytes in {last['ms']:,} ms, {ui.ago(last['at'], now)}: {verdict}{alike}"


def _task(part: Mapping[str, Any], now: str, width: int) -> Iterator[ui.Line]:
    yield from _title("actor", width)
    if part["task"] is None:
        yield ui.line_of("no task is running", width, ui.FAINT)
        return
    note = f": {part['note']}" if part["note"] else ""
    yield from _field("task", f"{part['task']}{note}", width)
    yield from _field("restarts", str(part["row"]["restarts"]), width)
    yield from _field("waits at", part["awaiting"] or "-", width)
    if (box := part["mailbox"]) is not None:
        told = f"{box['depth']} of {box['bound']} wait; {box['received']:,} taken, met full {box['full']:,} times"
        yield from _field("mailbox", told, width, ui.POOR if box["depth"] >= box["bound"] else "")
    if part["slowest_step_s"] is not None:
        told = f"{part['slowest_step_s'] * 1000:,.0f} ms held at most; idle for {ui.short(part['idle_s'] or 0)}"
        yield from _field("steps", told, width, ui.POOR if part["slowest_step_s"] >= 1 else "")
    if part["crash"]:
        yield from _field("crash", part["crash"], width, ui.BAD)
        for place in part["places"][:_PLACES]:
            yield from _field("", f"at {place}", width)
    for crash in part["crashes"]:
        yield from _field(f"  {ui.clock(crash['at'])}", crash["error"], width, ui.BAD)
