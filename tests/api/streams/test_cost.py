"""The memory that our objects of an idle stream use; the bench measures resident memory of 1,000 streams on sockets."""

from __future__ import annotations

import contextlib
import gc
import tracemalloc
from pathlib import Path

from tests.api.house import House
from tests.api.listening import listening

COUNT = 30
ROOT = Path(__file__).parents[3]
OURS = tuple(str(ROOT / folder / "*") for folder in ("api", "actors", "storage", "supervision"))


async def test_a_silent_stream_is_small_and_shares_its_key(house: House, autojump_clock: object) -> None:
    key = await house.key()
    async with contextlib.AsyncExitStack() as stack:
        for number in range(2 * COUNT):
            if number == COUNT:
                gc.collect()
                tracemalloc.start()
            client = await stack.enter_async_context(listening(house, key=key))
            await client.frame()
        gc.collect()
        taken = tracemalloc.take_snapshot()
        tracemalloc.stop()
        filters = [tracemalloc.Filter(True, name) for name in (*OURS, contextlib.__file__)]
        used = sum(one.size for one in taken.filter_traces(filters).statistics("filename"))
        assert used / COUNT < 10_500
