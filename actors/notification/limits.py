"""The limits of a service: the length of texts, and their markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from actors.notification.dialects import DialectName

Unit = Literal["characters", "bytes", "utf16"]
MEASURES: Final[dict[Unit, Callable[[str], int]]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "utf16": lambda text: len(text.encode("utf-16-le")) // 2,
}


class TextLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`text` counts in `unit`, `title` in characters.

    titled: the title is the first line of the text, as the service has no separate one.
    """

    dialect: DialectName = "plain"
    text: int
    title: int = 200
    unit: Unit = "characters"
    titled: bool = False
