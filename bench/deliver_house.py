"""The delivery benchmark's setup: a receiver in a separate process, deliveries over SQLite on real sockets.

The receiver only answers every POST with an empty 200, so that its process does not dominate. Paths under `/stall` get
no response. At the end of its input it prints the arrival times of requests to `/timed`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import trio

from actors.delivery.registry import DeliveryRegistry
from actors.destination_kinds.table import built_in_kinds
from actors.egress.traffic import build_egress
from actors.egress.transport import SystemResolver, TcpConnector
from actors.settings import Settings
from actors.world import World
from bench.log_material import DRAFTS, NOW, Mint, a_harvest, signed
from bench.topic import ROOT
from sanderling.real_world import chance, monotonic, wall
from storage.append import events_of
from storage.records.alert import Alert
from storage.records.destination import WEBHOOK, Destination, Match, Secret
from storage.records.event import Stored
from storage.sql.storage import Storage
from supervision import ChildSpec, DynamicSupervisor, Supervisor
from tests.support.passwords import NoPasswords

SECRET = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


class Receiver:
    """The receiver's process and port."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self._process, self.port = process, port

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def end(self) -> list[float]:
        """Stop it; return the arrival times of requests to `/timed`, on the machine's monotonic clock."""
        said, _ = self._process.communicate("", timeout=30)
        times: list[float] = json.loads(said)
        return times


@contextmanager
def a_receiver() -> Iterator[Receiver]:
    command = [sys.executable, "-m", "bench.deliver_house"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Receiver(process, int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()


def a_world() -> World:
    """Return a real World without worker processes."""
    none: Any = SimpleNamespace()
    dice = chance()
    return World(
        wall=wall,
        chance=lambda name: dice,
        entropy=random.Random(1).randbytes,
        resolver=SystemResolver(),
        connector=TcpConnector(),
        listen=none,
        jail=none,
        open_storage=none,
        reach=lambda name: None,
        log=lambda *a, **k: None,
        passwords=NoPasswords(),
    )


async def prepare(storage: Storage, urls: Sequence[str], kind: str = WEBHOOK) -> list[str]:
    """Store an alert and a destination of a kind for each URL; return their ids. Messengers get a topic each."""
    await storage.alerts.put(Alert("alert", "Everything", "", "en", (), NOW, NOW))
    hooks = [f"hook{number}" for number in range(len(urls))]
    for hook, url in zip(hooks, urls, strict=True):
        await storage.alerts.put_destination(
            Destination(hook, "alert", kind, url, "instant", hook, (SECRET,), NOW, NOW, options={"topic": hook})
        )
    return hooks


async def publish(storage: Storage, count: int) -> Sequence[Stored]:
    """Commit so many events of 2 KB."""
    events: list[Stored] = []
    mint = Mint()
    for start in range(0, count, 250):
        drafts = [DRAFTS[number % len(DRAFTS)] for number in range(start, min(count, start + 250))]
        events += events_of(
            await storage.log.append([a_harvest(0, draft) for draft in drafts], storage.lease, mint, signed)
        )
    return events


async def match(storage: Storage, hooks: Sequence[str], events: Sequence[Stored], world: World) -> None:
    """Put events into the outbox of each destination."""
    for hook in hooks:
        await storage.outbox.enqueue([Match(hook, event.seq, world.now()) for event in events], storage.lease)


@asynccontextmanager
async def delivering(storage: Storage, world: World) -> AsyncIterator[DeliveryRegistry]:
    egress = build_egress(world, Settings(allow_networks=("127.0.0.0/8",)))
    destinations = DynamicSupervisor("destinations", chance=random.Random(1))
    registry = DeliveryRegistry(
        world=world,
        storage=storage,
        egress=egress,
        kinds=built_in_kinds(),
        destinations=destinations,
        record=lambda message: None,
    )
    children = [
        ChildSpec("destinations", destinations.run, ready_within=10),
        ChildSpec("deliveries", registry.run, ready_within=60),
    ]
    tree = Supervisor("bench", children, chance=random.Random(2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        yield registry
        tree.stop()
    await egress.aclose()


async def _serve() -> None:
    times: list[float] = []

    async def answer(stream: trio.SocketStream) -> None:
        data = b""
        while True:
            while (end := data.find(b"\r\n\r\n")) < 0:
                more = await stream.receive_some(65536)
                if not more:
                    return
                data += more
            head = data[:end].lower()
            size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(data) < end + 4 + size:
                data += await stream.receive_some(65536)
            data = data[end + 4 + size :]
            if head.startswith(b"post /timed"):
                times.append(monotonic())
            if head.startswith(b"post /stall"):
                await trio.sleep_forever()
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, answer, listeners)
        print(listeners[0].socket.getsockname()[1], flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)
        nursery.cancel_scope.cancel()
    print(json.dumps(times))


if __name__ == "__main__":
    trio.run(_serve)
