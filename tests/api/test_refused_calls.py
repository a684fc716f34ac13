"""Log entries for refused calls (S15)."""

from __future__ import annotations

from typing import Any

import trio

from api.refusals import EVERY, MOST, REST, RefusedCalls
from tests.api.house import House


def lines(house: House) -> list[dict[str, Any]]:
    return [fields for event, fields in house.logs if event == "http.refused"]


async def test_x15_s15_refused_calls_leave_one_line_a_minute_for_each_key_and_address(
    house: House, autojump_clock: object
) -> None:
    async with house.stranger() as stranger, await house.client("bins:read") as narrow:
        for number in range(7):
            headers = {"Authorization": f"Bearer svc_{number + 1000:043d}"}
            assert (await stranger.get("/v1/sources", headers=headers)).status_code == 401
        for _ in range(3):
            assert (await narrow.get("/v1/sources")).status_code == 403
            assert (await narrow.get("/v1/webhook-bins")).status_code == 200
        assert lines(house) == []
        await trio.sleep(EVERY + 1)
        told = {line["key"]: line for line in lines(house)}
        assert len(lines(house)) == 2
        guessed = told.pop(None)
        assert (guessed["unauthorized"], guessed["path"]) == (7, "/v1/sources")
        (probed,) = told.values()
        assert (probed["forbidden"], probed["level"]) == (3, "warning")
        assert probed["says"].endswith("lacks the scope sources:read.")
        await trio.sleep(5 * EVERY)
        assert len(lines(house)) == 2
        await narrow.get("/v1/alerts")
        await trio.sleep(EVERY + 1)
        assert len(lines(house)) == 3


def test_s15_many_addresses_do_not_fill_the_log() -> None:
    told: list[dict[str, Any]] = []
    refused = RefusedCalls(lambda event, **fields: told.append(fields))
    for number in range(MOST + 50):
        refused.count(401, "/v1/stream", "Send an API key.", key=None, address=f"10.0.{number >> 8}.{number & 255}")
    refused.tell()
    assert len(told) == MOST + 1 and told[-1]["address"] == REST and told[-1]["unauthorized"] == 50
    refused.tell()
    assert len(told) == MOST + 1
