"""The open streams of this node, and the API keys: one row each, with an action to close or delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console.lines import Lines, Picks, key
from sanderling.console.text import Line, between, fit, right
from sanderling.console.view import BACK, View
from sanderling.console.words import BAD, POOR, ago, short

STREAMS, KEYS = "/v1/admin/streams", "/v1/admin/keys"
MOST = 500
LATE, TOO_LATE = 10, 300
"""Seconds behind the newest event until a reader is drawn as slow, and as far behind."""
_NAME, _AGE, _SENT, _FROM = 16, 7, 7, 16


class OpenScreen(View):
    """A list that refreshes every second while visible."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]
    PATH: ClassVar[str]
    LIST: ClassVar[str]
    NONE: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.answer: Mapping[str, Any] = {}
        self.picks = Picks(self._line, self._seen, empty=self._empty, id="rows")

    def middle(self) -> Sequence[Widget]:
        return (Lines(self._heading, id="heading"), self.picks)

    def on_mount(self) -> None:
        self.picks.focus()
        self.ask_for("rows", self._read)

    def connected(self) -> None:
        self.ask_for("rows", self._read)

    def beat(self) -> None:
        self.redraw()
        self.ask_for("rows", self._read)

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The rows last fetched."""
        found: Sequence[Mapping[str, Any]] = self.answer.get(self.LIST, ())
        return found

    async def _read(self) -> None:
        asked = {"limit": MOST} if self.PATH == STREAMS else {}
        self.answer = await self.console_app.link.get(self.PATH, **asked)
        self.picks.resize_to(len(self.rows))
        self.redraw()

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.offer()

    def here(self) -> Mapping[str, Any] | None:
        return self.rows[self.picks.cursor] if self.picks.cursor < len(self.rows) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer `end` only with a row under the cursor."""
        return self.here() is not None if action == "end" else True

    def _empty(self) -> str:
        return self.NONE if self.answer else "…"

    def _title(self) -> str:
        raise NotImplementedError

    def _heads(self) -> str:
        raise NotImplementedError

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        shown = len(self.rows)
        place = f"{self.picks.cursor + 1}/{shown} " if shown else "0 "
        return [[(between(self._title(), place, width), "dim")], [(fit(self._heads(), width), "bold")]]

    def _line(self, position: int, width: int) -> Line:
        raise NotImplementedError


class StreamsScreen(OpenScreen):
    """One row per stream, the furthest behind first."""

    PATH, LIST, NONE = STREAMS, "streams", "No stream is open at this node."
    BINDINGS: ClassVar[list[BindingType]] = [key("e", "end", "close", "close a stream; its client may come back")]

    def _title(self) -> str:
        node = self.answer.get("node")
        return f" streams of {node} alone: open the console at another node for its own" if node else " streams"

    def _heads(self) -> str:
        return (
            f" {fit('key', _NAME)} {right('behind', _AGE)} {right('open', _AGE)} {right('sent', _SENT)} "
            f"{fit('from', _FROM)} asked"
        )

    def _line(self, position: int, width: int) -> Line:
        return stream_line(self.rows[position], width, self.now)

    def action_end(self) -> None:
        """Close the stream under the cursor."""
        row = self.here()
        if row is None:
            return
        number, name = row["number"], row["name"]

        async def run() -> str:
            await self.console_app.link.post(f"{STREAMS}/{number}/close")
            await self._read()
            return f"The stream of {name} is closed. Its client may come back."

        self.confirmed(f"Close it?  {name}: {row['asked']}", run)


class KeysScreen(OpenScreen):
    """One row per key, newest first; never the key itself."""

    PATH, LIST, NONE = KEYS, "keys", "There is no key yet: sanderling keys create NAME SCOPE."
    BINDINGS: ClassVar[list[BindingType]] = [key("e", "end", "revoke", "delete a key for good")]

    def _title(self) -> str:
        return " API keys"

    def _heads(self) -> str:
        return f" {fit('name', _NAME)} {fit('begins', 12)} {right('made', _AGE)} {right('used', _AGE)} open  may"

    def _line(self, position: int, width: int) -> Line:
        return key_line(self.rows[position], width, self.now)

    def action_end(self) -> None:
        """Delete the key under the cursor."""
        row = self.here()
        if row is None:
            return
        id, name = row["id"], row["name"]

        async def run() -> str:
            await self.console_app.link.post(f"{KEYS}/{id}/revoke")
            await self._read()
            return f"The key {name} is deleted. The next request with it gets 401."

        self.confirmed(f"Delete it for good?  {name} ({row['prefix']}…)", run)


def stream_line(row: Mapping[str, Any], width: int, now: str) -> Line:
    """Return a stream as a line of exactly so many cells."""
    behind = row["behind_s"]
    style = BAD if behind >= TOO_LATE else POOR if behind >= LATE else ""
    late = short(behind) if behind >= 1 else "-"
    rest = width - _NAME - 2 * _AGE - _SENT - _FROM - 6
    return [
        (f" {fit(row['name'] or row['prefix'], _NAME)} ", ""),
        (right(late, _AGE), style),
        (f" {right(_age(row['since'], now), _AGE)} {right(_size(row['bytes']), _SENT)} ", ""),
        (f"{fit(row['address'] or 'socket', _FROM)} {fit(row['asked'], rest)}", ""),
    ]


def key_line(row: Mapping[str, Any], width: int, now: str) -> Line:
    """Return a key as a line of exactly so many cells."""
    used = "never" if row["last_used_at"] is None else _age(row["last_used_at"], now)
    head = f" {fit(row['name'], _NAME)} {fit(row['prefix'], 12)} {right(_age(row['created_at'], now), _AGE)} "
    head += f"{right(used, _AGE)} {right(str(row['streams'] or '-'), 4)}  "
    return [(fit(head + ", ".join(row["scopes"]), width), "" if row["last_used_at"] else "dim")]


def _age(moment: str, now: str) -> str:
    return ago(moment, now).removesuffix(" ago") if now else ""


def _size(count: int) -> str:
    """Return a byte count in at most seven cells.

    >>> _size(0), _size(950), _size(48_210), _size(5 << 20)
    ('-', '950 B', '47 K', '5 M')
    """
    if not count:
        return "-"
    for size, unit in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} B"
