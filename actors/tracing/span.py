"""A span: one thing that took time, with what is known of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from actors.tracing.identity import SpanContext
from storage.records.key import without_secrets

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
_SECRET: Final = re.compile(
    r"(?i)([?&;](?:[\w.-]*(?:token|secret|password|passwd|signature|credential|session)[\w.-]*"
    r"|(?:api|access|auth|private)?[_.-]?key|awsaccesskeyid|x-goog-[\w-]+|x-amz-[\w-]+|sig|pass|pwd|auth|code|jwt)=)"
    r"[^&;\s#\"']+"
)
_USER: Final = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#@\s]+@")


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
    """Return a text as it may be seen outside: without keys of ours, names and passwords in addresses, and the values
    of what looks like a secret in their queries; cut.

    >>> clean("https://a.test/in?page=2&api_key=s3cret&x=1#top"), clean("http://me:pw@a.test/")
    ('https://a.test/in?page=2&api_key=REDACTED&x=1#top', 'http://REDACTED@a.test/')
    """
    return _USER.sub(r"\1REDACTED@", _SECRET.sub(r"\1REDACTED", without_secrets(text)))[:LONGEST]


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
