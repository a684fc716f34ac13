"""An event of the newest, which are held in memory for streams. Pure."""

from __future__ import annotations

from storage.records.event import Stored


class Recent:
    """An event in the ring; `frame` caches its encoding for streams, so that it is made once for all of them."""

    __slots__ = ("frame", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.frame: bytes | None = None

    def __repr__(self) -> str:
        return f"Recent(seq={self.stored.seq})"
