"""What waits to be sent on one stream of HTTP/2: the answers' own bytes, none of them copied before they leave."""

from __future__ import annotations

from collections import deque


class Outbox:
    """A queue of bytes."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self._size = 0

    def put(self, data: bytes) -> None:
        """Lay data behind what is there. It is kept as it is, so that a body of many streams is there once."""
        if data:
            self._pieces.append(memoryview(data))
            self._size += len(data)

    def take(self, size: int) -> bytes:
        """Return the first bytes, so many where there are as many."""
        found = list[memoryview]()
        left = min(size, self._size)
        self._size -= left
        while left:
            piece = self._pieces.popleft()
            if len(piece) > left:
                self._pieces.appendleft(piece[left:])
                piece = piece[:left]
            found.append(piece)
            left -= len(piece)
        return b"".join(found)

    def clear(self) -> None:
        """Drop everything."""
        self._pieces.clear()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<Outbox {self._size} bytes in {len(self._pieces)} pieces>"
