"""Parses the lines of an HTTP stream into events: Server-Sent Events (WHATWG HTML, 9.2) and JSON lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

Kind = Literal["sse", "lines"]
_LINES = (
    "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "json-lines", "x-jsonlines", "stream+json", "x-json-stream",
    "json-seq",
)  # fmt: skip
CONTENT_TYPES: Final[Mapping[str, Kind]] = {
    "text/event-stream": "sse",
    **{f"application/{name}": "lines" for name in _LINES},
}
KIND_NAMES: Final[Mapping[Kind, str]] = {"sse": "Server-Sent Events", "lines": "JSON lines"}
MOST_SIZE: Final = 1 << 20  # largest event, and line, in bytes
MOST_ID: Final = 1_000
_PINGS: Final = frozenset(("ping", "heartbeat", "keepalive", "keep-alive", "hb"))
_DIGITS = re.compile(r"\d{1,9}")


def kind_of(content_type: str) -> Kind | None:
    """Return the kind of stream for a Content-Type.

    >>> kind_of("Text/Event-Stream; charset=utf-8"), kind_of("application/x-ndjson"), kind_of("text/html")
    ('sse', 'lines', None)
    """
    return CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())


def _is_complete(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line.strip(b"\x1e \t\r\n")), dict | list)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False


class NamedText(str):
    """The text of an event with the name that its stream gave it."""

    name = ""


def name_of(text: str) -> str:
    return text.name if isinstance(text, NamedText) else ""


class StreamEvent(NamedTuple):
    """An event. text: None for one that only moves the id. id: to resume after it, None without one."""

    text: str | None
    id: str | None


class StreamLines:
    """The parser of one stream. `skipped`: events too large. `retry`: seconds before the next connection."""

    def __init__(self, kind: Kind, last_id: str = "") -> None:
        self._kind = kind
        self._partial: list[bytes] = []
        self._partial_size = self._size = 0
        self._after_cr = self._started = self._is_too_large = False
        self._data: list[str] = []
        self._name, self._id = "", last_id
        self.retry: float | None = None
        self.skipped = 0

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        if self._kind == "sse" and data:
            skip, self._after_cr = int(self._after_cr and data[:1] == b"\n"), data[-1:] == b"\r"
            data = data[skip:]
        for line in self._lines(data):
            content = line if self._started else line.removeprefix(b"\xef\xbb\xbf")
            self._started = True
            if self._kind == "sse":
                event = self._field(content)
            else:
                text = content.decode("utf-8", "replace").strip("\x1e \t\r\n")
                event = StreamEvent(text, None) if text else None
            if event is not None:
                yield event

    def end(self) -> Iterator[StreamEvent]:
        """Take the end of a stream: a last object or list may lack its line break. An SSE event may not. A lost
        connection may look the same, so half a line is dropped, as is a number that may lack digits.
        """
        if self._kind == "lines" and _is_complete(b"".join(self._partial)):
            yield from self.feed(b"\n")

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """Yield complete lines; lines that are too large are dropped as they arrive."""
        # In JSON lines a CR is white space, and only LF ends a line.
        lines = data.splitlines(keepends=True) if self._kind == "sse" else data.split(b"\n")
        partial = lines.pop() if self._kind == "lines" or (lines and lines[-1][-1:] not in {b"\n", b"\r"}) else b""
        for line in lines:
            parts, self._partial, is_too_large = self._partial, [], self._partial_size + len(line) > MOST_SIZE + 2
            self._partial_size = 0
            if is_too_large:
                if self._kind == "lines":
                    self.skipped += 1
                else:
                    self._is_too_large, self._data = True, []
                continue
            whole = b"".join((*parts, line)) if parts else line
            yield whole.rstrip(b"\r\n") if self._kind == "sse" else whole
        self._partial_size += len(partial)
        if self._partial_size > MOST_SIZE:
            self._partial = []
        elif partial:
            self._partial.append(partial)

    def _field(self, line: bytes) -> StreamEvent | None:
        if not line:
            data, name, is_too_large = self._data, self._name, self._is_too_large
            self._data, self._name, self._size, self._is_too_large = [], "", 0, False
            if is_too_large:
                self.skipped += 1
            if not data or name.lower() in _PINGS:
                return StreamEvent(None, self._id)
            text = "\n".join(data)
            if name not in {"", "message"}:
                text = NamedText(text)
                text.name = name
            return StreamEvent(text, self._id)
        raw, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        match raw:
            case b"data":
                self._size += len(value) + 1
                if self._size > MOST_SIZE:
                    self._is_too_large, self._data = True, []
                elif not self._is_too_large:
                    self._data.append(text)
            case b"event":
                self._name = text[:100]
            case b"id" if "\0" not in text and len(text) <= MOST_ID:
                self._id = text
            case b"retry" if _DIGITS.fullmatch(text):
                self.retry = int(text) / 1000
            case _:
                pass  # a comment, as a sign of life, or a field of a later standard
        return None
