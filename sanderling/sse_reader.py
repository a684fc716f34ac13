"""Reading Server-Sent Events (WHATWG HTML, section 9.2.6): bytes in, whole events out. Pure.

What a line split gets wrong: CR, LF and CRLF all end a line, also when a CRLF is cut in two; U+2028 does not; data may
have several lines; a comment and an empty event are nothing; and the id counts from the event's end, so a frame that is
cut off is asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One dispatched event; `id` is the last one that was set up to here."""

    type: str
    data: str
    id: str


class EventReader:
    """Feed it what arrives, take events out. `last_id` and `retry` (seconds, None: never said) are for reconnecting."""

    def __init__(self) -> None:
        self.last_id = self._id = ""
        self.retry: float | None = None
        self._rest = b""
        self._after_cr = False
        self._first = True
        self._clear()

    def _clear(self) -> None:
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that this chunk completes."""
        for line in self._lines(chunk):
            event = self._take(line)
            if event is not None:
                yield event

    def _lines(self, chunk: bytes) -> Iterator[str]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        *lines, self._rest = (self._rest + chunk).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace")
            if self._first:
                self._first, text = False, text.removeprefix("\ufeff")
            yield text

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if value.isascii() and value.isdigit():
                self.retry = int(value) / 1000
        return None

    def _dispatch(self) -> ServerEvent | None:
        self.last_id = self._id
        kind, data = self._type or "message", self._data
        self._clear()
        return ServerEvent(kind, "\n".join(data), self.last_id) if data else None
