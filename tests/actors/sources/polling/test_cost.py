"""The memory of a parked source. bench/sources.py measures the times."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from random import Random
from typing import Any

import trio

from actors.sources.polling import PolledSource
from actors.sources.ports import LiveSource
from storage.records.identity import Millis
from storage.records.source import SourceRuntime
from supervision import ChildSpec
from tests.actors.sources.harness import watching
from tests.support.build import NOW, a_source

COUNT = 300


async def test_a_parked_source_takes_little_more_than_its_record_and_memory(autojump_clock: Any) -> None:
    async with watching() as (run, _):
        dice = Random(1)
        ports = replace(run.ports, world=replace(run.world, chance=lambda name: dice))
        hot = SourceRuntime(next_look_at=Millis(NOW + 1_800_000))
        found = [a_source(number) for number in range(COUNT)]
        gc.collect()
        tracemalloc.start()
        for source in found:
            live = LiveSource(source, hot)
            actor = PolledSource(ports, live, run.registry.table.readers)
            run.sources.start_child(ChildSpec(source.id, actor.run, mailbox=live.mailbox))
        await trio.sleep(1)
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert run.sources.statistics().running == COUNT
        assert used / COUNT < 6_500
