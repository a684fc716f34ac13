"""Many streams of one connection whose answers nobody reads."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import trio
from h2.settings import SettingCodes

from api.unsent import OF_ONE
from tests.api.house import House
from tests.api.http2.asking import bearer
from tests.api.http2.peer import Http2Peer, connected

MIB = 1 << 20


async def test_s4_two_hundred_streams_without_a_window_share_one_page_and_the_count_of_their_keys(
    house: House, pair: tuple[Path, Path], peer: Http2Peer
) -> None:
    whole = len((await peer.get("/docs")).body)
    heads = [await bearer(house) for _ in range(2)]
    shut = {SettingCodes.INITIAL_WINDOW_SIZE: 0}
    async with connected(house, pair, settings=shut) as one, connected(house, pair, settings=shut) as other:
        tracemalloc.start()
        try:
            for mute, head in zip((one, other), heads, strict=True):
                for _ in range(100):
                    await mute.ask("/docs", head)
            await trio.sleep(1)
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert held < 16 * MIB
        for mute in (one, other):
            answers = mute.answers
            await mute.until(lambda answers=answers: sum(bool(answer.status) for answer in answers.values()) == 100)
            good = sum(answer.status == 200 for answer in answers.values())
            assert good == OF_ONE // (whole + (4 << 10))
            assert {answer.status for answer in answers.values() if answer.status} == {200, 503}
