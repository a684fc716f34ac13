"""A span: one timed operation with its attributes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from extras.tracing.identity import SpanContext
from storage.records.secrecy import without_secrets

INTERNAL: Final = 1
CLIENT: Final = 3  # kinds, by their numbers in OTLP
LONGEST: Final = 1_024  # characters of a text in a span
MOST_IN_LIST: Final = 32
MOST_LINKS: Final = 128
CANCELLED: Final = "cancelled"
Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value]


class SpanEvent(NamedTuple):
    """A point in time within a span, in nanoseconds since 1970."""

    at: int
    name: str


class Span(NamedTuple):
    """Texts are redacted by `clean`. start, end: ns since 1970. parent: b"" at a root. error: its type, or ""."""

    trace: bytes
    id: bytes
    parent: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    error: str = ""
    moments: Sequence[SpanEvent] = ()
    links: Sequence[SpanContext] = ()


def clean(text: str) -> str:
    """Return a text for outside use: without secrets, and truncated."""
    return without_secrets(text)[:LONGEST]


def host_alone(address: str) -> str:
    """Return the visible part of a destination's address: the rest is often a secret.

    >>> host_alone("https://hooks.test:8443/services/T0/B0/s3cret"), host_alone("mailto:anna@example.com")
    ('https://hooks.test:8443/...', 'mailto:...')
    """
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/..." if host else f"{parts.scheme}:..."


def error_type(error: BaseException) -> str:
    """Return the type of an exception for a span: its blame, if it has one, else its class name."""
    blame = getattr(getattr(error, "blame", None), "value", None)
    name = type(error).__name__
    return blame if isinstance(blame, str) else CANCELLED if name == "Cancelled" else name
