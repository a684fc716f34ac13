"""Timestamps from a fast clock have no lasting effect."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.identity import Millis
from tests.actors.sources.harness import rss, watching
from tests.actors.sources.registry.test_registry import URL


async def test_r7_a_check_from_the_future_does_not_block_a_manual_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        live = service.registry.table.get(source)
        ahead = Millis(service.world.now() + 100 * 86_400_000)
        live.hot, live.requested_at = replace(live.hot, last_look_at=ahead, next_look_at=ahead, not_before=ahead), ahead
        assert service.registry.table.earliest_check(live) <= service.world.now()
