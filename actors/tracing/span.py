"""A span: one thing that took time, with what is known of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from actors.tracing.identity import SpanContext
from storage.records.secrecy import without_secrets

INTERNAL: Final = 1
SERVER: Final = 2
CLIENT: Final = 3
"""Kinds, by their numbers in OTLP."""
LONGEST: Final = 1_024
"""Characters of a text in a span."""
MOST_IN_LIST: Final = 32
MOST_LINKS: Final = 128
CANCELLED: Final = "cancelled"
Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value]


class Moment(NamedTuple):
    """Something that happened within a span, in nanoseconds since 1970."""

    at: int
    name: str


class Span(NamedTuple):
    """One span. start, end: nanoseconds since 1970. parent: b"" at a root. error: of what type, "" when all went well.

    Texts are as they may be seen: whoever makes a span passes them through `clean`.
    """

    trace: bytes
    id: bytes
    parent: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    error: str = ""
    moments: Sequence[Moment] = ()
    links: Sequence[SpanContext] = ()


def clean(text: str) -> str:
    """Return a text as it may be seen outside: without secrets, and cut."""
    return without_secrets(text)[:LONGEST]


def host_alone(address: str) -> str:
    """Return the address of a destination as it may be seen: the rest of it is often a secret.

    >>> host_alone("https://hooks.test:8443/services/T0/B0/s3cret"), host_alone("mailto:anna@example.com")
    ('https://hooks.test:8443/...', 'mailto:...')
    """
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/..." if host else f"{parts.scheme}:..."


def error_type(error: BaseException) -> str:
    """Return by which word an exception is known: whose fault it is, where it says so, else what it is."""
    blame = getattr(getattr(error, "blame", None), "value", None)
    name = type(error).__name__
    return blame if isinstance(blame, str) else CANCELLED if name == "Cancelled" else name
