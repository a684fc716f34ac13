"""A recent event, held in memory for streams. Pure."""

from __future__ import annotations

from storage.records.event import Stored


class Recent:
    """An event in the ring. `frame` caches its encoding, made once for all streams."""

    __slots__ = ("frame", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.frame: bytes | None = None

    def __repr__(self) -> str:
        return f"Recent(seq={self.stored.seq})"
