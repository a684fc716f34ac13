"""Opaque cursors: the place after the last item shown, for one list with its parameters. Pure.

A cursor names a place, not a count, so insertions and deletions never make a page skip or repeat an item. It works only
with the same path and parameters, except `limit`. It grants no rights, so it carries a checksum and no signature. A
truncated, altered or misplaced cursor gets 400 instead of a wrong page.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from api.problems import invalid

T = TypeVar("T")
_CHECK = 6
FREE = ("cursor", "limit")
"""Parameters that may differ from page to page."""

Limit = Annotated[int, Meta(ge=1, le=1000, description="Most items of a page", examples=[100])]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="From the `Link` of the previous page; opaque",
        extra_json_schema={"format": "cursor"},
    ),
]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a list to return."""

    limit: Limit = 100
    cursor: Cursor | None = None


def encode_cursor(position: Any, target: str, free: Sequence[str] = FREE) -> str:
    """Encode a position as opaque text for one target. free: parameters that may differ from page to page."""
    raw = msgspec.json.encode(position)
    return urlsafe_b64encode(_check(raw, target, free) + raw).rstrip(b"=").decode()


def decode_cursor(text: str, kind: type[T], target: str, free: Sequence[str] = FREE) -> T:
    """Return the position in a cursor. Raises Refusal (400) if it was made for another target."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        if raw[:_CHECK] == _check(raw[_CHECK:], target, free):
            return msgspec.json.decode(raw[_CHECK:], type=kind)
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        pass
    raise invalid("query.cursor", "not a cursor of this list with these parameters", text)


def _check(raw: bytes, target: str, free: Sequence[str]) -> bytes:
    path, _, query = target.partition("?")
    asked = sorted(pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in free)
    return blake2b(msgspec.json.encode((path, asked)) + raw, digest_size=_CHECK).digest()
