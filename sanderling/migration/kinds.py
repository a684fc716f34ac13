"""Of which programs files are read. It imports nothing, for the command's help names them."""

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
