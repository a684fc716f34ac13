"""Requests whose client hangs up at a numbered checkpoint of the handler, anywhere in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import trio

from api.server.http1 import Exchange

HEADER = "x-hangs-up-at"
"""The request's header with the number of handler steps before the hang-up."""
LATEST = 60
"""Steps; about as many as a changing request takes."""


class _Steps(trio.abc.Instrument):
    """Counts the steps of a task and its children, and cancels them all at one of them."""

    def __init__(self, root: trio.lowlevel.Task, most: int, scope: trio.CancelScope) -> None:
        self._root, self._left, self._scope = root, most, scope

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._is_of_it(task):
            self._left -= 1
            if not self._left:
                self._scope.cancel()

    def _is_of_it(self, task: trio.lowlevel.Task | None) -> bool:
        while task is not None and task is not self._root:
            nursery = task.parent_nursery
            task = None if nursery is None else nursery.parent_task
        return task is not None


@contextmanager
def hang_ups() -> Iterator[None]:
    """Within the block, cut off requests that ask for it, as a client that disconnects does."""
    right = Exchange.answer

    async def answer(self: Exchange, scope: dict[str, Any], receive: Any, send: Any, *_: Any) -> None:
        most = _most(scope["headers"])
        if not most:
            return await right(self, scope, receive, send)
        with trio.CancelScope() as patience:
            steps = _Steps(trio.lowlevel.current_task(), most, patience)
            trio.lowlevel.add_instrument(steps)
            try:
                await right(self, scope, receive, send)
            finally:
                trio.lowlevel.remove_instrument(steps)
        if patience.cancelled_caught:
            await self._line.cut()
        return None

    with patch.object(Exchange, "answer", answer):
        yield


def _most(headers: Sequence[tuple[bytes, bytes]]) -> int:
    return next((int(value) for name, value in headers if name == HEADER.encode()), 0)
