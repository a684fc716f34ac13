"""Opaque cursors of lists, and the Link header to the next page (RFC 8288)."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from api.problems import invalid

T = TypeVar("T")


def encode_cursor(position: Any) -> str:
    """Return a position as text that clients hand back unread."""
    return urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def decode_cursor(text: str, kind: type[T]) -> T:
    """Return the position in a cursor. Raises Refusal (400) for what we did not make."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        return msgspec.json.decode(raw, type=kind)
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        raise invalid("query.cursor", "not a cursor of this list", text) from None


def next_link(base_url: str, target: str, cursor: str) -> str:
    """Return the Link header's value for the same request with another cursor.

    >>> next_link("http://x", "/v1/sources?limit=2&cursor=a", "b")
    '<http://x/v1/sources?limit=2&cursor=b>; rel="next"'
    """
    path, _, query = target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "cursor"]
    return f'<{base_url}{path}?{urlencode([*kept, ("cursor", cursor)])}>; rel="next"'
