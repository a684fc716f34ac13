"""Exported metrics, explained metrics and those of the Grafana file are the same."""

from __future__ import annotations

import json
import re

import trio
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import wait_all_tasks_blocked

from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import System
from api.nouns.service import exposition
from tests.rules.source_files import ROOT
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import MemoryNetwork, a_world

FAMILIES = ("counter", "gauge", "histogram")


async def scraped() -> str:
    """Return the metrics of a service that has just started."""
    async with trio.open_nursery() as nursery:
        world = a_world(MemoryNetwork(nursery), jail=InlineJail(), entropy=lambda size: b"k" * size)
        disk = Disk()
        storage = InLoopStorage(disk, disk.start("test"))
        system = System(world, Settings(), storage, await signing_keys(world, storage), lambda context: [], version="1")
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()
        text = exposition(system.context).decode()
        system.stop()
    return text


async def test_every_metric_is_explained_and_no_other_one(autojump_clock: object) -> None:
    page = (ROOT / "docs/metrics.md").read_text("utf-8")
    explained = dict(re.findall(r"^\| `(sanderling_\w+)`[^|]*\| (\w+) \|", page, re.MULTILINE))
    exported = dict(re.findall(r"^# TYPE (sanderling_\w+) (\w+)$", await scraped(), re.MULTILINE))
    assert explained == exported
    assert set(exported.values()) <= set(FAMILIES)


async def test_names_have_base_units_and_counters_end_in_total(autojump_clock: object) -> None:
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", await scraped(), re.MULTILINE):
        assert (kind == "counter") is name.endswith("_total"), name
        assert not re.search(r"_(ms|minutes|kb|mb|percent)(_|$)", name), name


async def test_every_metric_of_the_grafana_file_is_exported(autojump_clock: object) -> None:
    board = json.loads((ROOT / "docs/grafana.json").read_text("utf-8"))
    used = set()
    for panel in board["panels"]:
        for target in panel["targets"]:
            used |= set(re.findall(r"\b(?:sanderling|process)_\w+", target["expr"]))
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", await scraped(), re.MULTILINE))
    there = set(types)
    for name, kind in types.items():
        if kind == "histogram":
            there |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    assert used <= there and len(used) > 20
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


async def test_the_text_parses_as_prometheus_format(autojump_clock: object) -> None:
    families = {family.name: family for family in text_string_to_metric_families(await scraped())}
    assert families["sanderling_build_info"].samples[0].labels["version"] == "1"
    assert {sample.labels["part"]: sample.value for sample in families["sanderling_part_up"].samples}["log"] == 1
