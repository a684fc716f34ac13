"""The documents that `sanderling verify` accepts: events and captured deliveries in any stored form.

An event; a list or page of events; a digest; a CloudEvents envelope; NDJSON; a recorded stream (SSE); a capture of
`listen --save` or a webhook bin, or a list of captures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from httpx_sse import EventSource

from sanderling_client.receiver.capture import Capture, is_capture, of_json
from sanderling_client.verify import decode

_SSE = (b"data:", b"event:", b"id:", b"retry:", b":")
_ONE = "the file"


@dataclass(frozen=True, slots=True)
class Broken:
    """An unreadable part, and the reason."""

    why: str


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a file. where: its place, for messages. content: a capture, or an event as decoded JSON."""

    where: str
    content: Capture | Mapping[str, Any] | Broken


def items(data: bytes) -> Iterator[Item]:
    """Yield a file's parts in order. Raises ValueError with a sentence for an unknown form."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise ValueError("it is empty")
    if data.lstrip().startswith(_SSE):
        yield from _of_stream(data)
        return
    try:
        value = decode(data)
    except (ValueError, RecursionError) as error:
        yield from _of_lines(data, error)
    else:
        yield from _of_value(value, _ONE)


def _of_lines(data: bytes, error: Exception) -> Iterator[Item]:
    """Yield the content of JSON lines. error: why the whole is not JSON, reported if line 1 is not either."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    for place, (number, line) in enumerate(lines):
        try:
            value = decode(line)
        except (ValueError, RecursionError) as wrong:
            if place == 0:
                raise ValueError(f"it is neither JSON, lines of JSON nor a recorded stream: {_words(error)}") from None
            yield Item(f"line {number}", Broken(f"not JSON: {_words(wrong)}"))
        else:
            yield from _of_value(value, f"line {number}")


def _of_stream(data: bytes) -> Iterator[Item]:
    answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=data + b"\n\n")
    frames = (frame for frame in EventSource(answer).iter_sse() if frame.data)
    for number, frame in enumerate(frames, 1):
        try:
            value = decode(frame.data)
        except (ValueError, RecursionError) as error:
            yield Item(f"frame {number}", Broken(f"not JSON: {_words(error)}"))
        else:
            yield from _of_value(value, f"frame {number}")


def _of_value(value: Any, where: str) -> Iterator[Item]:
    if isinstance(value, list):
        for number, part in enumerate(value, 1):
            yield from _of_value(part, f"{where}, {number}" if where != _ONE else f"entry {number}")
    elif is_capture(value):
        try:
            yield Item(where, of_json(value))
        except ValueError as error:
            yield Item(where, Broken(f"this capture can't be used: {error}"))
    elif isinstance(value, dict) and isinstance(value.get("specversion"), str) and isinstance(value.get("data"), dict):
        yield from _of_value(value["data"], where)  # a CloudEvents envelope
    elif isinstance(value, dict) and isinstance(value.get("events"), list):
        yield from _of_value(value["events"], where)
    elif isinstance(value, dict) and isinstance(value.get("keys"), list):
        raise ValueError("it is a key set, which belongs behind --jwks")
    elif isinstance(value, dict):
        yield Item(where, value)
    else:
        yield Item(where, Broken(f"neither an event nor a capture, but {_kind(value)}"))


def _words(error: Exception) -> str:
    return "too deeply nested" if isinstance(error, RecursionError) else str(error)[:120]


def _kind(value: Any) -> str:
    return {str: "a text", bool: "a truth value", type(None): "null"}.get(type(value), "a number")
