"""D1, D2 for real: killed at any instant, every event in the log reaches the receiver, an id with one body only.

An origin publishes, a receiver answers after a moment, and the service between them is killed with SIGKILL again and
again: while it claims, while requests are under way, between an answer and its settling. Then it is left alone.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from sanderling.client.api import Client
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add
from tests.e2e.test_kill import ask_for_looks, publish, read_log

pytestmark = pytest.mark.real

ROUNDS, FEWEST = 15, 5
BUDGET = 45.0
"""Seconds for all rounds; a slow machine may do fewer, and the test says how many."""


class Receiver:
    """Takes deliveries: `bodies` of each id, in order."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self._draw = draw
        self.bodies: defaultdict[str, list[bytes]] = defaultdict(list)
        self.url = ""

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/in"
        task_status.started()
        await trio.serve_listeners(self._answer, [listener])

    async def _answer(self, stream: trio.SocketStream) -> None:
        data = b""
        try:
            while True:
                while b"\r\n\r\n" not in data:
                    more = await stream.receive_some()
                    if not more:
                        return
                    data += more
                head, _, data = data.partition(b"\r\n\r\n")
                lines = head.decode().lower().split("\r\n")
                headers = dict(line.split(": ", 1) for line in lines[1:])
                while len(data) < int(headers["content-length"]):
                    more = await stream.receive_some()
                    if not more:
                        return
                    data += more
                body, data = data[: int(headers["content-length"])], data[int(headers["content-length"]) :]
                self.bodies[headers["webhook-id"]].append(body)
                await trio.sleep(self._draw())
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except trio.BrokenResourceError:
            return  # its sender was killed


async def test_d1_d2_killed_at_any_instant_every_event_is_delivered_and_an_id_has_one_body(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(1121)
    origin, key, receiver = Origin(), a_key(tmp_path), Receiver(lambda: chance.uniform(0.0, 0.1))
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        await nursery.start(receiver.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            source = str((await add(client, f"http://{origin.place}/feed"))["id"])
            alert = (await client.ask("POST", "/v1/alerts", json={"filter_query": ""})).json()["id"]
            await client.ask("POST", f"/v1/alerts/{alert}/destinations", json={"url": receiver.url})
        began, rounds = trio.current_time(), 0
        while rounds < ROUNDS and trio.current_time() - began < BUDGET:
            async with a_service(tmp_path) as service, trio.open_nursery() as life:
                life.start_soon(publish, origin, chance.uniform(0.01, 0.05))
                life.start_soon(ask_for_looks, service, key, source)
                await trio.sleep(chance.uniform(0.1, 1.5))
                service.process.kill()
                await service.process.wait()
                life.cancel_scope.cancel()
            rounds += 1
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            log = await read_log(service, key, source, until=origin.items[-1])
            with trio.fail_after(30):
                while not log.keys() <= receiver.bodies.keys():  # noqa: ASYNC110 - a poll over sockets
                    await trio.sleep(0.2)
            (line, *_) = (await client.ask("GET", "/v1/destinations")).json()
        nursery.cancel_scope.cancel()
    repeated = sum(len(bodies) - 1 for bodies in receiver.bodies.values())
    with capsys.disabled():
        print(f"\nkilled {rounds} times, {len(log)} events, {repeated} delivered again, rate {line['duplicate_rate']}")
    assert rounds >= FEWEST and len(log) >= 10
    assert receiver.bodies.keys() == log.keys(), "each event of the log, and nothing else"
    assert all(len({*bodies}) == 1 for bodies in receiver.bodies.values()), "an id has one body"
