"""Chrome's DevTools protocol: JSON messages, terminated by NUL on a pipe. Pure.

A command has a number, and its answer repeats it; an event has none. Messages of one page have the id of the session
attached to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

MOST_MESSAGE: Final = 96 << 20
"""Bytes of one message. The largest readable page, with each `<` as six characters, has fewer."""


class BadMessage(Exception):
    """The input is no message of the protocol; the browser is unusable."""


class Command(NamedTuple):
    """A command to a browser. tag: identifies the answer for the sender, "" if it needs none."""

    method: str
    params: Mapping[str, Any] = {}
    session: str = ""
    tag: str = ""


class Message(NamedTuple):
    """A browser's message. number: of the answered command, 0 for an event. failed: the error."""

    number: int
    method: str
    params: Mapping[str, Any]
    session: str
    failed: str = ""


class _Wire(msgspec.Struct):
    id: int = 0
    method: str = ""
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None
    session_id: str = msgspec.field(default="", name="sessionId")


_DECODER = msgspec.json.Decoder(_Wire)


def packed(number: int, command: Command) -> bytes:
    """Return a command as the text of a message.

    >>> packed(7, Command("Page.enable", {}, "S"))
    b'{"id":7,"method":"Page.enable","params":{},"sessionId":"S"}'
    """
    fields: dict[str, Any] = {"id": number, "method": command.method, "params": command.params}
    if command.session:
        fields["sessionId"] = command.session
    return msgspec.json.encode(fields)


class Pipe:
    """Splits a stream of bytes into messages."""

    def __init__(self, most: int = MOST_MESSAGE) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes as they come, yield each complete text. Raises BadMessage."""
        *whole, rest = data.split(b"\0")
        for part in whole:
            text = b"".join((*self._parts, part))
            self._parts, self._size = [], 0
            yield text
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._most:
            raise BadMessage(f"a message of more than {self._most:,} bytes")


def read(text: bytes) -> Message:
    """Parse a browser's message. Raises BadMessage."""
    try:
        found = _decoded(text)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadMessage(f"{text[:80]!r}: {error}") from None
    if found.error is not None:
        failed = str(found.error.get("message", "it failed"))[:300]
        return Message(found.id, found.method, {}, found.session_id, failed)
    return Message(found.id, found.method, found.params or found.result, found.session_id)


def _decoded(text: bytes) -> _Wire:
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # A page may write half a character (a lone surrogate) into its text, its address, its dialogs: strict readers
        # refuse that as JSON, but it is no reason to give up the browser of all other pages.
        return msgspec.convert(json.loads(text), _Wire)
