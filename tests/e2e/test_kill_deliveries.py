"""D1, D2 for real: killed at any instant, every event in the log reaches the receiver, one body for each id.

An origin publishes, a receiver answers after a moment, and SIGKILL hits the service again and again: while it claims,
during requests, between an answer and its settling. Then it runs undisturbed.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
import trio

from sanderling.client.api import Client
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add
from tests.e2e.test_kill import ask_for_looks, publish, read_log
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

ROUNDS = 10


def by_header(headers: Mapping[str, str], body: bytes) -> str:
    """Return the id of a webhook request."""
    return headers["webhook-id"]


def by_alert(headers: Mapping[str, str], body: bytes) -> str:
    """Return the id that PagerDuty uses to recognise duplicates."""
    return str(json.loads(body)["dedup_key"])


def told_to(bodies: Mapping[str, Sequence[bytes]]) -> int:
    """Return the number of events in the messages: a message about several gives their number."""
    titles = (json.loads(each[0])["payload"]["summary"] for each in bodies.values())
    found = (re.match(r"([\d,]+) events of ", title) for title in titles)
    return sum(1 if one is None else int(one[1].replace(",", "")) for one in found)


class Receiver:
    """Takes deliveries: `bodies` of each id, in order. id_of: the id that marks duplicates."""

    def __init__(self, draw: Callable[[], float], id_of: Callable[[Mapping[str, str], bytes], str] = by_header) -> None:
        self._draw, self._id_of = draw, id_of
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
                self.bodies[self._id_of(headers, body)].append(body)
                await trio.sleep(self._draw())
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except trio.BrokenResourceError:
            return  # the sender was killed


async def tell(client: Client, sources: Iterable[str], hook: Receiver, pager: Receiver) -> None:
    """Make an alert over everything with two destinations: a webhook, and PagerDuty for people."""
    body = {"filter_query": "", "private_source_ids": list(sources)}
    alert = (await client.ask("POST", "/v1/alerts", json=body)).json()["id"]
    there = f"/v1/alerts/{alert}/destinations"
    await client.ask("POST", there, json={"url": hook.url})
    options = {"key": "0123456789abcdef0123456789abcdef"}
    await client.ask("POST", there, json={"kind": "pagerduty", "url": pager.url, "options": options})


async def test_d1_d2_killed_at_any_instant_every_event_is_delivered_and_an_id_has_one_body(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(1121)
    origin, key = Origin(), a_key(tmp_path)
    receiver = Receiver(lambda: chance.uniform(0.0, 0.1))
    pager = Receiver(lambda: chance.uniform(0.0, 0.1), by_alert)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        await nursery.start(receiver.serve)
        await nursery.start(pager.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            source = str((await add(client, f"http://{origin.place}/feed"))["id"])
            await tell(client, [source], receiver, pager)
        for _ in range(ROUNDS):
            async with a_service(tmp_path) as service, trio.open_nursery() as life:
                life.start_soon(publish, origin, chance.uniform(0.01, 0.05))
                life.start_soon(ask_for_looks, service, key, source)
                await trio.sleep(chance.uniform(0.1, 1.5))
                service.process.kill()
                await service.process.wait()
                life.cancel_scope.cancel()
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            log = await read_log(service, key, source, until=origin.items[-1])
            with trio.fail_after(HANG):
                while not log.keys() <= receiver.bodies.keys() or told_to(pager.bodies) < len(log):  # noqa: ASYNC110 - a poll over sockets
                    await trio.sleep(0.2)
            lines = (await client.ask("GET", "/v1/destinations")).json()
        nursery.cancel_scope.cancel()
    repeated = sum(len(bodies) - 1 for each in (receiver, pager) for bodies in each.bodies.values())
    rates = [line["duplicate_rate"] for line in lines]
    with capsys.disabled():
        print(f"\nkilled {ROUNDS} times, {len(log)} events, {repeated} delivered again, rates {rates}")
    assert len(log) >= 10
    assert receiver.bodies.keys() == log.keys(), "each event of the log, and nothing else"
    assert told_to(pager.bodies) == len(log), "each event of the log once"
    for each in (receiver, pager):
        assert all(len({*bodies}) == 1 for bodies in each.bodies.values()), "an id has one body"
