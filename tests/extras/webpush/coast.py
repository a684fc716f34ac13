"""The service between a feed and our own push service, with the device that decrypts its messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import trio

from actors.destination_kinds.kind import Service
from actors.destination_kinds.messengers.messenger import built_in
from actors.destination_kinds.table import NO_MAIL, kinds_of
from actors.language.sentences import message_languages
from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import System
from api.server.server import serve
from supervision import ChildSpec
from tests.actors.test_delivering import Town, asked
from tests.api.house import BASE_URL, FakeChild, FakeRegistry, House
from tests.extras.webpush.device import Device
from tests.support.memory_network import Answer, ReceivedRequest, web
from tests.support.passwords import PlainPasswords

ENDPOINT = "https://push.test/send/s3cret-0f-the-endpoint"


class Coast(Town):
    """A town with a push service. answers: its answers in turn; the last repeats."""

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(nursery)
        self.world = replace(self.world, passwords=PlainPasswords())
        self.pushed: list[ReceivedRequest] = []
        self.times: list[float] = []
        self.answers = [Answer(201)]
        self.device = Device()
        self.network.add("push.test", "93.184.216.50", web(self._take, self.pushed), 443)

    def _take(self, asked: ReceivedRequest) -> Answer:
        self.times.append(trio.current_time())
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[httpx.AsyncClient]:
        keys, settings = await signing_keys(self.world, self.storage), Settings(base_url=BASE_URL)
        kinds = kinds_of(built_in(), NO_MAIL, Service(self.world, self.storage, settings), message_languages("en"))
        system = System(
            self.world,
            settings,
            self.storage,
            keys,
            lambda context: [ChildSpec("web", partial(serve, context))],
            kinds=kinds,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(system.run)
            await trio.sleep(1)
            self.house = House(system.context, self.storage, FakeRegistry(), self.listener, FakeChild())
            async with await self.house.client() as client:
                yield client
            nursery.cancel_scope.cancel()

    async def subscribed(self, client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
        """Watch the feed and subscribe the device; return the destination."""
        await asked(client, "/v1/sources", url="http://news.test/feed")
        alert = await asked(client, "/v1/alerts", filter_query="", name="Fares of the ferry")
        body = {"kind": "webpush", "url": ENDPOINT, "options": self.device.options} | more
        return await asked(client, f"/v1/alerts/{alert['id']}/destinations", **body)

    def shown(self, at: int = -1) -> dict[str, Any]:
        """Return the decrypted content of a pushed message."""
        found: dict[str, Any] = json.loads(self.device.read(self.pushed[at].body))
        return found
