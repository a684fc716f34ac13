"""The memory that our objects of an idle stream use; the bench measures resident memory of 1,000 streams on sockets."""

from __future__ import annotations

import contextlib
import gc
import tracemalloc
from pathlib import Path

import pytest
from trio.testing import memory_stream_pair

from tests.api.house import StreamPair, make_house, running
from tests.api.listening import listening
from tests.api.streams.test_parked import quiet, sockets

COUNT = 30
ROOT = Path(__file__).parents[3]
OURS = tuple(str(ROOT / folder / "*") for folder in ("api", "actors", "storage", "supervision"))


@pytest.mark.parametrize(("pair", "most"), [(memory_stream_pair, 10_500), (sockets, 3_000)])
async def test_a_silent_stream_is_small_and_shares_its_key(pair: StreamPair, most: int, autojump_clock: object) -> None:
    async with running(make_house(pair)) as house, contextlib.AsyncExitStack() as stack:
        key = await house.key()
        for number in range(2 * COUNT):
            if number == COUNT:
                gc.collect()
                tracemalloc.start()
            client = await stack.enter_async_context(listening(house, key=key))
            await client.frame()
        await quiet()
        gc.collect()
        taken = tracemalloc.take_snapshot()
        tracemalloc.stop()
        filters = [tracemalloc.Filter(True, name) for name in (*OURS, contextlib.__file__)]
        used = sum(one.size for one in taken.filter_traces(filters).statistics("filename"))
        assert used / COUNT < most
