"""The lanes of questions to the registry: memory, storage, the network. Each has a bound, and none waits for
another.

What memory answers is answered in turn, at once. What needs storage or a worker has a task of its own, and so has what
needs the network; a lane that is full refuses at once instead of keeping the next question waiting.
"""

from __future__ import annotations

from typing import Final

from actors.errors import Busy
from actors.messages.sources import (
    AddSource,
    CheckNow,
    CountTags,
    DescribeSource,
    DetectUrl,
    ExamineSource,
    ExplainSource,
    ListSources,
    PickFromSource,
    PickFromUrl,
    PreviewSource,
    RegistryMessage,
)

TO_NETWORK: Final = 32
TO_STORAGE: Final = 256
"""Most of them wait for a lock or for a commit: as many as the mailbox holds."""
AGAIN: Final = 10
"""Seconds after which somebody who was refused may ask again."""


class Lane:
    """Questions of one kind under way, at most `bound`."""

    __slots__ = ("_bound", "_name", "under_way")

    def __init__(self, name: str, bound: int) -> None:
        self._name, self._bound = name, bound
        self.under_way = 0

    def __repr__(self) -> str:
        return f"<Lane {self._name} {self.under_way}/{self._bound}>"

    def enter(self) -> None:
        """Begin with one more question. Raises Busy."""
        if self.under_way >= self._bound:
            raise Busy(f"{self._bound} {self._name} are under way, which is the most at once: ask again later", AGAIN)
        self.under_way += 1

    def leave(self) -> None:
        """End a question that has entered."""
        self.under_way -= 1


class Lanes:
    """The lane of each question."""

    def __init__(self) -> None:
        self.network = Lane("questions that look at a URL (adding, detecting, previewing)", TO_NETWORK)
        self.storage = Lane("changes and other questions about sources", TO_STORAGE)

    def of(self, message: RegistryMessage) -> Lane | None:
        """Return the lane of a question; None for what memory answers."""
        match message:
            case CheckNow() | CountTags() | DescribeSource() | ExamineSource() | ListSources():
                return None
            case (
                AddSource()
                | DetectUrl()
                | PreviewSource()
                | PickFromUrl()
                | PickFromSource()
                | ExplainSource(look=True)
            ):
                return self.network
            case _:
                return self.storage
