"""A received request and its JSON form, the same as in webhook bins. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Capture:
    """headers: names and values as received, in order. body: raw bytes. received_at: in ms since 1970, None if
    unknown.
    """

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    received_at: int | None

    def fields(self) -> Mapping[str, str]:
        """Return the headers by lower-case name; the first of duplicates wins."""
        found: dict[str, str] = {}
        for name, value in self.headers:
            found.setdefault(name.lower(), value)
        return found


def encode(capture: Capture) -> bytes:
    """Return a capture as JSON: the body as text if it is UTF-8, else as base64."""
    try:
        body = {"body": capture.body.decode()}
    except UnicodeDecodeError:
        body = {"body_base64": b64encode(capture.body).decode()}
    fields = {
        "received_at": None if capture.received_at is None else rfc3339(capture.received_at),
        "method": capture.method,
        "path": capture.path,
        "query": capture.query,
        "headers": capture.headers,
        **body,
        "size": len(capture.body),
        "truncated": False,
    }
    return msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n"


def is_capture(value: Any) -> bool:
    return isinstance(value, dict) and "headers" in value and ("body" in value or "body_base64" in value)


def of_json(value: Mapping[str, Any]) -> Capture:
    """Return a capture from its JSON form. Raises ValueError with a sentence."""
    if value.get("truncated"):
        raise ValueError("the captured body was cut, so nothing about its signatures can be known")
    at = value.get("received_at")
    return Capture(
        method=str(value.get("method", "POST")),
        path=str(value.get("path", "/")),
        query=str(value.get("query") or ""),
        headers=_headers(value["headers"]),
        body=_body(value),
        received_at=_millis(at) if isinstance(at, str) else None,
    )


def rfc3339(at: int) -> str:
    """Format milliseconds since 1970.

    >>> rfc3339(1_795_255_200_123)
    '2026-11-21T10:00:00.123Z'
    """
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _millis(text: str) -> int:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"its time has no zone: {text[:40]!r}")
    return (at - EPOCH) // timedelta(milliseconds=1)


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in pairs
    ):
        raise ValueError("its headers are neither pairs of a name and a value nor an object")
    return tuple((name, text) for name, text in pairs)


def _body(value: Mapping[str, Any]) -> bytes:
    text, packed = value.get("body"), value.get("body_base64")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(packed, str):
        raise ValueError("it has neither a body (text) nor a body_base64")
    try:
        return b64decode(packed, validate=True)
    except ValueError:
        raise ValueError("its body_base64 is not base64") from None
