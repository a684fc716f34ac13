from __future__ import annotations

from typing import Any

import trio

from storage.errors import Unavailable
from tests.actors.sources.harness import rss, watching


async def test_a_source_waits_out_a_storage_that_does_not_answer_and_asks_its_host_no_more_than_its_floor(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add("https://site.example/feed", schedule="1m")
        real, away = service.storage.sources.get, 600.0
        before = len(origin.looks("/feed"))

        async def get(source: Any) -> Any:
            if trio.current_time() < until:
                raise Unavailable("for a while")
            return await real(source)

        until = trio.current_time() + away
        service.storage.sources.get = get  # type: ignore[method-assign]
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(away)
        assert 5 <= len(origin.looks("/feed")) - before <= 21
        assert service.sources.statistics().restarts == 0
        await trio.sleep(200)
        assert await service.titles() == ["b"]
