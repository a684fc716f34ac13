"""Lists, page by page, and the Link header to the next page (RFC 8288). Cursors are in `cursors.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from api.cursors import decode_cursor, encode_cursor
from api.route import Call

T = TypeVar("T")


class Dated(Protocol):
    """A record with a creation time and an id, both constant."""

    @property
    def id(self) -> str:
        """The record's id."""

    @property
    def created_at(self) -> int:
        """The creation time, in milliseconds."""


R = TypeVar("R", bound=Dated)


def place(call: Call, kind: type[T]) -> T | None:
    """Return the position in a request's cursor, or None. Raises Refusal (400)."""
    return None if call.query.cursor is None else decode_cursor(call.query.cursor, kind, call.target)


def next_page(call: Call, position: Any | None) -> dict[str, str]:
    """Return the headers that link to the next page; none at the end of the list."""
    if position is None:
        return {}
    cursor = encode_cursor(position, call.target)
    return {"Link": next_link(call.context.settings.public_url(), call.target, cursor)}


def oldest_first(call: Call, records: Sequence[R]) -> tuple[Sequence[R], dict[str, str]]:
    """Return the requested page of records and its headers. The records come in the list's order."""
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
