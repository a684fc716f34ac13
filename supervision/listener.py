"""Notification of changes, without letting a broken listener harm a child."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from supervision.errors import Crash, describe

N = TypeVar("N")


class ChangeListener(Generic[N]):
    """Calls a listener, if there is one. Its exceptions are counted and kept here, and do not propagate."""

    __slots__ = ("crash", "failures", "listener")

    def __init__(self, listener: Callable[[N], None] | None) -> None:
        self.listener = listener
        self.failures = 0
        self.crash: Crash | None = None

    def tell(self, notice: N) -> None:
        """Pass a notice on. Never raises an Exception, since it is called in a child's task, between its lives."""
        if self.listener is None:
            return
        try:
            self.listener(notice)
        except Exception as error:
            self.failures += 1
            self.crash = describe(error)
