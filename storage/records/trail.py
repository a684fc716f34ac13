"""The trail: the results of a source's last 200 checks, a few bytes each. Pure.

Consecutive checks with the same result are one row with a count, so a quiet source's trail is a single row. The trail
travels in the source's lazily saved state: a check that found nothing still writes nothing.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from storage.records.identity import Millis

MOST_LOOKS = 200
_VERSION = b"\x01"
_ROW = struct.Struct(">IIHHIHB")
_MOST_16, _MOST_32 = 0xFFFF, 0xFFFFFFFF


class Verdict(IntEnum):
    """The result of a check. The numbers are stored, so they never change their meaning."""

    UNCHANGED = 0
    CHANGED = 1
    NOTHING_TO_TELL = 2
    """The body changed without a reportable change: churn, held entries, a doubt."""
    REMOTE_TRANSIENT = 3
    """It and the verdicts below are failures, for the reason of the `Blame` with the same name."""
    THROTTLED = 4
    REMOTE_PERMANENT = 5
    CONTENT = 6
    LOCAL = 7


class Row(Struct, frozen=True):
    """Consecutive checks with the same result. looks: how many. size (bytes on the wire), ms: of the last."""

    first_at: Millis
    last_at: Millis
    looks: int
    status: int | None
    size: int
    ms: int
    verdict: Verdict


def look(at: Millis, verdict: Verdict, status: int | None, *, size: int = 0, ms: int = 0) -> Row:
    return Row(at, at, 1, status, size, ms, verdict)


def noted(trail: bytes, row: Row) -> bytes:
    """Add a check and drop those before the last 200."""
    rows = read(trail)
    if rows and (rows[-1].verdict, rows[-1].status) == (row.verdict, row.status) and row.verdict != Verdict.CHANGED:
        rows[-1] = replace(row, first_at=rows[-1].first_at, looks=rows[-1].looks + 1)
    else:
        rows.append(row)
    spare = sum(each.looks for each in rows) - MOST_LOOKS
    while spare > 0 and spare >= rows[0].looks:
        spare -= rows.pop(0).looks
    if spare > 0:
        rows[0] = replace(rows[0], looks=rows[0].looks - spare)
    return _VERSION + b"".join(_packed(each) for each in rows)


def read(trail: bytes) -> list[Row]:
    """Return the rows, oldest first; none for a trail of another version."""
    if trail[:1] != _VERSION or (len(trail) - 1) % _ROW.size:
        return []
    return [
        Row(Millis(first * 1000), Millis(last * 1000), looks, status or None, size, ms, Verdict(verdict))
        for first, last, looks, status, size, ms, verdict in _ROW.iter_unpack(trail[1:])
    ]


def _packed(row: Row) -> bytes:
    size, ms = min(row.size, _MOST_32), min(row.ms, _MOST_16)
    first, last = row.first_at // 1000, row.last_at // 1000
    return _ROW.pack(first, last, row.looks, row.status or 0, size, ms, row.verdict)
