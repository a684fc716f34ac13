from __future__ import annotations

import trio

from actors.source.spending import Spent
from tests.api.house import House


async def test_the_keys_are_public_and_cacheable(house: House) -> None:
    async with house.stranger() as client:
        answer = await client.get("/.well-known/jwks.json")
    assert answer.json() == {"keys": []}
    assert answer.headers["cache-control"] == "public, max-age=300"


async def test_healthz_says_when_the_writer_stands_still(house: House, autojump_clock: object) -> None:
    moved = trio.current_time()
    house.storage.writer_moved_at = lambda: moved  # type: ignore[method-assign]
    async with house.stranger() as client:
        await trio.sleep(29)
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        await trio.sleep(2)
        sick = await client.get("/healthz")
    assert (sick.status_code, sick.json()["errors"][0]["location"]) == (503, "writer")


async def test_readyz_names_the_part_that_fails(house: House) -> None:
    async with house.stranger() as client:
        house.readiness.update(recorder="", sources="")
        house.overdue = 3  # a busy host alone makes some: that is no reason to send traffic elsewhere
        house.spent = Spent(40.0, 10.0, 240.0)
        said = (await client.get("/readyz")).json()
        looks = said.pop("looks")
        assert said == {"status": "ready", "parts": ["recorder", "sources"], "overdue": 3}
        assert (looks["per_second"], looks["passed_for_seconds"]) == (40.0, 240.0) and "for 4 min now" in looks["says"]
        house.readiness["sources"] = "They are being loaded."
        answer = await client.get("/readyz")
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert answer.json()["errors"] == [{"location": "sources", "message": "They are being loaded.", "value": None}]
