"""Lists, page by page: opaque cursors, and the Link header to the next page (RFC 8288).

A cursor names the place after the last item shown, never a count of items: what is added or deleted meanwhile makes no
page skip or repeat anything. It goes on with *its* request: the same path and parameters, but for `limit`. It is no
secret and no right, since whoever holds it may ask without it; so it carries a check and no signature, and what was
cut, altered or taken to another list is 400 instead of an odd page.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from api.problems import invalid
from api.route import Call

T = TypeVar("T")
_CHECK = 6
FREE = ("cursor", "limit")
"""Parameters that may differ from page to page."""


class Dated(Protocol):
    """A record with an age and an id, neither of which ever changes."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def created_at(self) -> int:
        """When it was made, in milliseconds."""


R = TypeVar("R", bound=Dated)


def place(call: Call, kind: type[T]) -> T | None:
    """Return the position in a request's cursor, None when it has none. Raises Refusal (400)."""
    return None if call.query.cursor is None else decode_cursor(call.query.cursor, kind, call.target)


def next_page(call: Call, position: Any | None) -> dict[str, str]:
    """Return the headers that lead on from a position; none at the end of the list."""
    if position is None:
        return {}
    cursor = encode_cursor(position, call.target)
    return {"Link": next_link(call.context.settings.public_url(), call.target, cursor)}


def oldest_first(call: Call, records: Sequence[R]) -> tuple[Sequence[R], dict[str, str]]:
    """Return the page of records that a request asks for, and its headers. The records come in the list's order."""
    after = place(call, tuple[int, str]) or (-1, "")
    rest = [record for record in records if (record.created_at, record.id) > after]
    page = rest[: call.query.limit]
    return page, next_page(call, (page[-1].created_at, page[-1].id) if len(rest) > len(page) else None)


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


def next_link(base_url: str, target: str, cursor: str) -> str:
    """Return the Link header's value for the same request with another cursor.

    >>> next_link("http://x", "/v1/sources?limit=2&cursor=a", "b")
    '<http://x/v1/sources?limit=2&cursor=b>; rel="next"'
    """
    path, _, query = target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "cursor"]
    return f'<{base_url}{path}?{urlencode([*kept, ("cursor", cursor)])}>; rel="next"'


def _check(raw: bytes, target: str, free: Sequence[str]) -> bytes:
    path, _, query = target.partition("?")
    asked = sorted(pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in free)
    return blake2b(msgspec.json.encode((path, asked)) + raw, digest_size=_CHECK).digest()
