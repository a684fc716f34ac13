"""Opaque cursors: the place after the last item shown, for one list with its parameters. Pure.

A cursor names a place, never a count of items: what is added or deleted meanwhile makes no page skip or repeat
anything. It goes on with *its* request: the same path and parameters, but for `limit`. It is no secret and no right,
since whoever holds it may ask without it; so it carries a check and no signature, and what was cut, altered or taken to
another list is 400 instead of an odd page.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from api.problems import invalid

T = TypeVar("T")
_CHECK = 6
FREE = ("cursor", "limit")
"""Parameters that may differ from page to page."""


def encode_cursor(position: Any, target: str, free: Sequence[str] = FREE) -> str:
    """Return a position as text that clients hand back unread, with a request for the same target.

    free: parameters that may differ from page to page.
    """
    raw = msgspec.json.encode(position)
    return urlsafe_b64encode(_check(raw, target, free) + raw).rstrip(b"=").decode()


def decode_cursor(text: str, kind: type[T], target: str, free: Sequence[str] = FREE) -> T:
    """Return the position in a cursor. Raises Refusal (400) for what was not made for this target."""
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
