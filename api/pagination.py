"""Lists, page by page: opaque cursors, and the Link header to the next page (RFC 8288).

A cursor names the place after the last item shown, not a count, so insertions and deletions never make a page skip or
repeat an item. It works only with the same path and parameters, except `limit`. It grants no rights, so it carries a
checksum and no signature. A truncated, altered or misplaced cursor gets 400 instead of a wrong page.
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
FREE = ("cursor", "limit")  # parameters that may differ from page to page


def encode_cursor(position: Any, target: str, free: Sequence[str] = FREE) -> str:
    raw = msgspec.json.encode(position)
    return urlsafe_b64encode(_check(raw, target, free) + raw).rstrip(b"=").decode()


def decode_cursor(text: str, kind: type[T], target: str, free: Sequence[str] = FREE) -> T:
    """Return the position in a cursor. Raises Refusal (400) if it was made for another target."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        if raw[:_CHECK] == _check(raw[_CHECK:], target, free):
            return msgspec.json.decode(raw[_CHECK:], type=kind)
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        pass  # refused below
    raise invalid("query.cursor", "not a cursor of this list with these parameters", text)


def _check(raw: bytes, target: str, free: Sequence[str]) -> bytes:
    path, _, query = target.partition("?")
    asked = sorted(pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in free)
    return blake2b(msgspec.json.encode((path, asked)) + raw, digest_size=_CHECK).digest()


class Dated(Protocol):
    """A record with a creation time and an id, both constant."""

    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> int: ...


R = TypeVar("R", bound=Dated)


def place(call: Call, kind: type[T]) -> T | None:
    """Return the position in a request's cursor, or None. Raises Refusal (400)."""
    return None if call.query.cursor is None else decode_cursor(call.query.cursor, kind, call.target)


def next_page(call: Call, position: Any | None) -> dict[str, str]:
    if position is None:
        return {}
    cursor = encode_cursor(position, call.target)
    return {"Link": next_link(call.context.settings.public_url(), call.target, cursor)}


def oldest_first(call: Call, records: Sequence[R]) -> tuple[Sequence[R], dict[str, str]]:
    after = place(call, tuple[int, str]) or (-1, "")
    rest = [record for record in records if (record.created_at, record.id) > after]
    page = rest[: call.query.limit]
    return page, next_page(call, (page[-1].created_at, page[-1].id) if len(rest) > len(page) else None)


def next_path(target: str, cursor: str) -> str:
    """Return the path and query of the same request with another cursor.

    >>> next_path("/v1/sources?limit=2&cursor=a", "b")
    '/v1/sources?limit=2&cursor=b'
    """
    path, _, query = target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "cursor"]
    return f"{path}?{urlencode([*kept, ('cursor', cursor)])}"


def next_link(base_url: str, target: str, cursor: str) -> str:
    """Return the Link header's value for the next page.

    >>> next_link("http://x", "/v1/sources?limit=2&cursor=a", "b")
    '<http://x/v1/sources?limit=2&cursor=b>; rel="next"'
    """
    return f'<{base_url}{next_path(target, cursor)}>; rel="next"'
