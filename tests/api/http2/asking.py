"""What tests of HTTP/2 ask, and what they look at behind the server."""

from __future__ import annotations

import json
from typing import Any

import trio

from tests.api.house import House
from tests.api.http2.peer import Answer, Http2Peer

JSON = ("content-type", "application/json")


async def bearer(house: House, *scopes: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {await house.key(*scopes)}")


def problem_in(answer: Answer) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json" and answer.headers["x-request-id"]
    found: dict[str, Any] = json.loads(answer.body)
    return found


def tasks(name: str) -> int:
    """Count the tasks of a function."""
    todo, count = [trio.lowlevel.current_root_task()], 0
    while todo:
        task = todo.pop()
        assert task is not None
        count += task.coro.cr_code.co_qualname == name if hasattr(task.coro.cr_code, "co_qualname") else 0
        todo += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return count


def handlers() -> int:
    return tasks("Http2Connection._live")


async def open_stream(house: House, peer: Http2Peer, *more: tuple[str, str]) -> int:
    number = await peer.ask("/v1/stream", await bearer(house), *more)
    await peer.until(lambda: b"replay-from" in peer.answers[number].body)
    return number


async def has(peer: Http2Peer, title: str, *numbers: int) -> None:
    """Read until all these streams have had an event."""
    mark = f'"{title}"'.encode()
    await peer.until(lambda: all(mark in peer.answers[number].body for number in numbers))


def faults(house: House) -> list[Any]:
    return [fields for event, fields in house.logs if event == "http.fault"]
