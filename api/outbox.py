"""What waits to be sent on one stream of HTTP/2, without a copy: a body that many streams wait for is there once."""

from __future__ import annotations

from collections import deque


class Outbox:
    """Pieces in order, read from the front."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, data: bytes) -> None:
        """Lay data behind the rest."""
        if data:
            self._pieces.append(memoryview(data))
            self._size += len(data)

    def take(self, size: int) -> bytes:
        """Take so many bytes off the front, or what there is."""
        taken: list[memoryview] = []
        left = size = min(size, self._size)
        while left:
            piece = self._pieces[0]
            taken.append(piece[:left])
            if len(piece) > left:
                self._pieces[0] = piece[left:]
            else:
                self._pieces.popleft()
            left -= len(taken[-1])
        self._size -= size
        return b"".join(taken)

    def clear(self) -> None:
        """Drop all."""
        self._pieces.clear()
        self._size = 0
