"""Damages a page of a database, as a failing disk does: SQLite notices when it reads that page."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing

_LEAVES, _INNER = (13, 10), (5, 2)
"""First bytes of leaf and inner pages; the second of each pair are of tables without row ids."""


def bend(connection: sqlite3.Connection, table: str, dice: random.Random) -> int:
    """Damage one of the pages that hold a table's rows; return its number. No transaction may be open."""
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (table,)).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    image = bytearray(connection.serialize())
    number = dice.choice(list(_leaves(image, root, size)))
    begins = (number - 1) * size
    if dice.random() < 0.5:
        image[begins : begins + size] = bytes(size)
    else:
        image[begins] = 0xFF
    with closing(sqlite3.connect(":memory:")) as bent:
        bent.deserialize(bytes(image))
        bent.backup(connection)
    return number


def _leaves(image: bytes | bytearray, number: int, size: int) -> Iterator[int]:
    page = image[(number - 1) * size : number * size]
    if page[0] in _LEAVES:
        yield number
    elif page[0] in _INNER:
        cells = int.from_bytes(page[3:5])
        for cell in range(cells):
            at = int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell])
            yield from _leaves(image, int.from_bytes(page[at : at + 4]), size)
        yield from _leaves(image, int.from_bytes(page[8:12]), size)
