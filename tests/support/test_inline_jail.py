from __future__ import annotations

import pytest
import trio

from actors.content.errors import ContentError
from actors.world import TaskRefused, WorkerDied
from tests.support.inline_jail import InlineJail


def refuse(request: bytes) -> bytes:
    raise ContentError("an image")


def fail(request: bytes) -> bytes:
    raise RuntimeError("planted")


def a_jail() -> InlineJail:
    return InlineJail({"double": lambda b: b + b, "refuse": refuse, "fail": fail})


async def test_a_task_runs_in_the_callers_thread() -> None:
    jail = a_jail()
    assert await jail.call("double", b"ab") == b"abab"
    assert jail.calls == 1


async def test_a_refusal_and_a_failure_are_the_same_as_from_a_process() -> None:
    with pytest.raises(TaskRefused) as caught:
        await a_jail().call("refuse", b"")
    assert caught.value.reason == "an image"
    for task in ("fail", "unknown"):
        with pytest.raises(WorkerDied):
            await a_jail().call(task, b"")


async def test_a_cancelled_call_never_starts_its_task() -> None:
    jail = a_jail()
    with trio.CancelScope() as scope:
        scope.cancel()
        await jail.call("double", b"")
    assert scope.cancelled_caught
    assert jail.calls == 0
