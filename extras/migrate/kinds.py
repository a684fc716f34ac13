"""The programs whose files can be read. Imports nothing, because the command's help lists them."""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["urls", "csv", "opml", "changedetection", "miniflux", "urlwatch", "sanderling"]
KINDS: Final[tuple[Kind, ...]] = (
    "urls",
    "csv",
    "opml",
    "changedetection",
    "miniflux",
    "urlwatch",
    "sanderling",
)
