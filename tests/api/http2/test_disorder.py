"""Random frames at a real connection with real handlers: whatever comes, nothing is left behind."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import trio
from hpack.hpack import Encoder
from trio.testing import wait_all_tasks_blocked

from api.frames import Frame, Kind
from tests.api.http2.asking import faults, handlers, tasks
from tests.api.http2.peer import connected, secured
from tests.support.certificates import needs_openssl

pytestmark = needs_openssl
PATHS = ("/v1/stream", "/v1/sources", "/healthz", "/openapi.json", "/nowhere", "/bins/none", "/v1/events/export")
KINDS = ("head",) * 60 + ("data",) * 20 + ("reset",) * 10 + ("window",) * 10 + ("settings", "ping")


class Chaos:
    """Makes frames that are right when the seed is even, and mostly so when it is odd, with a key that is."""

    def __init__(self, seed: int, key: str) -> None:
        self._chance, self._key = random.Random(seed), key
        self._encoder = Encoder()
        self._next = 1
        self._kinds = (*KINDS, "any") if seed % 2 else KINDS

    def frame(self) -> Frame:
        chance = self._chance
        if self._next == 1:
            return self._head()  # anything else would be the end
        known = self._next - 2 * chance.randrange(1, min(10, self._next // 2) + 1)
        match chance.choice(self._kinds):
            case "head":
                return self._head()
            case "data":
                return Frame(Kind.DATA, chance.choice((0, 0, 1)), known, chance.randbytes(chance.randrange(200)))
            case "reset":
                return Frame(Kind.RST_STREAM, 0, known, b"\0\0\0\x08")
            case "window":
                size = chance.choice((0, 2**31 - 1)) if "any" in self._kinds and chance.random() < 0.1 else 10_000
                return Frame(Kind.WINDOW_UPDATE, 0, chance.choice((0, known)), struct.pack(">L", size))
            case "settings":
                return Frame(Kind.SETTINGS, 0, 0, struct.pack(">HL", 4, chance.choice((0, 100, 65_535))))
            case "ping":
                return Frame(Kind.PING, 0, 0, b"12345678")
            case _:
                kind, flags = chance.randrange(12), chance.randrange(256)
                return Frame(kind, flags, chance.choice((0, known)), chance.randbytes(9))

    def _head(self) -> Frame:
        chance = self._chance
        fields = [(":method", chance.choice(("GET", "GET", "POST", "HEAD"))), (":scheme", "https")]
        fields += [(":authority", "sanderling.test"), (":path", chance.choice(PATHS)), ("x-api-key", self._key)]
        fields += chance.choice(([], [], [("content-length", "7")], [("Bad", "x")], [("expect", "100-continue")]))
        number, self._next = self._next, self._next + 2
        return Frame(Kind.HEADERS, 4 | chance.choice((0, 1, 1)), number, self._encoder.encode(fields))


async def test_no_disorder_leaves_a_handler_behind(pair: tuple[Path, Path], autojump_clock: object) -> None:
    async with secured(pair, keepalive=1) as house:
        key, ended, most = await house.key(), 0, 0
        for seed in range(24):
            chaos = Chaos(seed, key)
            async with connected(house, pair) as peer, trio.open_nursery() as nursery:
                nursery.start_soon(swallow, peer.stream)
                for turn in range(40):
                    await peer.send_frames(*[chaos.frame() for _ in range(3)])
                    if turn % 10 == 0:
                        await house.publish(f"event{seed}")
                        await trio.sleep(1)
                    most = max(most, handlers())
                ended += peer.closed
                nursery.cancel_scope.cancel()
            await wait_all_tasks_blocked()
            assert handlers() == 0 and tasks("House._live") == 0, seed
            assert house.storage.tail.statistics().waiting == 0
        assert 6 < ended < 20 and most >= 10, "some are ended for what they send, others have many handlers"
        async with connected(house, pair) as peer:
            assert (await peer.get("/healthz")).status == 200
        assert not faults(house)


async def swallow(stream: trio.abc.Stream) -> None:
    try:
        while await stream.receive_some(65536):
            pass
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
