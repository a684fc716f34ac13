"""The places of a state's blocks, packed: deflated with the state's texts, which contain most labels, as dictionary.

A row's label is nearly always that of the previous block or the next new one, and column heads repeat in every row, so
a table of a thousand cells needs some hundred bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from actors.content.pages.places import Place

MOST_LABELS = 64 * 1024
"""Characters of labels to store; the blocks beyond them have no place."""
_MOST_BYTES = 8 * MOST_LABELS
_NONE, _SAME, _NEXT, _KNOWN = 0, 1, 2, 3


class _Packed(Struct, array_like=True):
    rows: list[str]
    columns: list[str]
    row_steps: list[int]
    """For each block: none, the previous block's row, the next new row, or `_KNOWN` plus the row's number."""
    column_steps: list[int]
    """For each block: none, or the number of the column plus 1."""


def pack_places(places: Sequence[Place | None], texts: bytes) -> bytes:
    """Pack places, b"" for none. texts: the same that `unpack_places` will get."""
    if not any(places):
        return b""
    rows: dict[str, int] = {}
    columns: dict[str, int] = {}
    row_steps, column_steps = [], []
    last, room = -1, MOST_LABELS
    for place in places:
        row, column = place or Place()
        room -= (0 if row in rows else len(row)) + (0 if column in columns else len(column))
        if room < 0:
            break
        if not row:
            row_steps.append(_NONE)
        else:
            is_new = row not in rows
            number = rows.setdefault(row, len(rows))
            row_steps.append(_NEXT if is_new else _SAME if number == last else _KNOWN + number)
            last = number
        column_steps.append(columns.setdefault(column, len(columns)) + 1 if column else _NONE)
    packed = msgspec.msgpack.encode(_Packed(list(rows), list(columns), row_steps, column_steps))
    deflating = zlib.compressobj(6, wbits=-zlib.MAX_WBITS, zdict=texts)
    return deflating.compress(packed) + deflating.flush()


def unpack_places(packed: bytes, texts: bytes) -> tuple[Place | None, ...]:
    """Return the places of the first blocks; () if there are none or the data is damaged."""
    if not packed:
        return ()
    try:
        plain = zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=texts).decompress(packed, _MOST_BYTES)
        found = msgspec.msgpack.decode(plain, type=_Packed)
        return tuple(_places(found))
    except (zlib.error, msgspec.MsgspecError, IndexError, ValueError):
        return ()


def _places(found: _Packed) -> list[Place | None]:
    places: list[Place | None] = []
    last = newest = -1
    for row_step, column_step in zip(found.row_steps, found.column_steps, strict=True):
        row = ""
        if row_step != _NONE:
            if row_step == _NEXT:
                newest += 1
            last = last if row_step == _SAME else newest if row_step == _NEXT else row_step - _KNOWN
            row = found.rows[last]
        column = found.columns[column_step - 1] if column_step else ""
        places.append(Place(row, column) if row or column else None)
    return places
