"""Events as lines of CSV (RFC 4180). Pure.

Spreadsheets run cells that begin like a formula, and the owner of a watched page controls every text here. Such cells
get a leading apostrophe, which marks them as text. Programs that need the exact bytes should use NDJSON.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Prefixes that start a formula. The last four are full-width forms, which some spreadsheets treat alike."""
_QUOTED = ('"', ",", "\r", "\n")


class _Change(Struct, frozen=True):
    before: str = ""
    after: str = ""


class _Diff(Struct, frozen=True):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[_Change, ...] = ()


class _Row(Struct, frozen=True):
    """The fields of an event's line, in column order. `diff` becomes three columns."""

    emitted_at: str = ""
    source_type: str = ""
    source_url: str = ""
    url: str = ""
    title: str = ""
    author: str = ""
    published_at: str | None = None
    fetched_at: str = ""
    tags: tuple[str, ...] = ()
    alert_type: str = ""
    content: str = ""
    id: str = ""
    source_id: str = ""
    content_hash: str = ""
    diff: _Diff = _Diff()
    summary: str = ""


_decode = msgspec.json.Decoder(_Row).decode
_PLAIN = tuple(name for name in _Row.__struct_fields__ if name not in ("diff", "summary"))
COLUMNS = (*_PLAIN, "added", "removed", "changed", "summary")
"""Append new columns at the end, so that readers by number keep working."""
HEADER = ",".join(COLUMNS).encode() + b"\r\n"


def line_of(body: bytes) -> bytes:
    """Return the CSV line of an event's wire JSON, with its line end.

    >>> line_of(b'{"title":"=1+1","tags":["a","b"]}')
    b",,,,'=1+1,,,,a; b,,,,,,,,,\\r\\n"
    """
    row = _decode(body)
    cells = [_text(getattr(row, name)) for name in _PLAIN]
    cells += ["\n".join(row.diff.added), "\n".join(row.diff.removed)]
    cells.append("\n".join(f"{change.before} → {change.after}" for change in row.diff.changed))
    cells.append(row.summary)
    return ",".join(map(cell, cells)).encode() + b"\r\n"


def _text(value: str | tuple[str, ...] | None) -> str:
    return "; ".join(value) if isinstance(value, tuple) else value or ""


def cell(text: str) -> str:
    """Return a text as a CSV cell that no spreadsheet takes for a formula."""
    if text.startswith(FORMULA):
        text = f"'{text}"
    text = text.replace("\0", "\ufffd")  # RFC 4180 has no NUL, and many programs end a file at one
    if any(sign in text for sign in _QUOTED):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
