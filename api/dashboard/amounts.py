"""Amounts of bytes as people read them. Pure."""

from __future__ import annotations

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return bytes in words.

    >>> size(0), size(2048), size(5_000_000)
    ('0 bytes', '2.0 KiB', '4.8 MiB')
    """
    amount, unit = float(count), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{count} bytes"
