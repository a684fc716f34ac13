"""Many sources in a data folder, written through the store, as in a library that has run for a while."""

from __future__ import annotations

from pathlib import Path

import trio
from msgspec.structs import replace

from sanderling.real_world import wall
from storage.records.identity import Managed, Millis, SourceId, id_of, seq_at
from storage.records.source import Detection, Health, Source, SourceRuntime, SourceState
from storage.sqlite import open_sqlite

_SOON = 3_000_000
_AT_ONCE = 500


def fill(data: Path, count: int, tags: tuple[str, ...] = ("label:library",), workspace: str = "") -> None:
    """Add sources to the data folder of a stopped service. None is due for most of an hour.

    workspace: its files describe the sources, as `site-0` and so on.
    """
    data.mkdir(parents=True, exist_ok=True)
    trio.run(_fill, data, count, tags, workspace)


async def _fill(data: Path, count: int, tags: tuple[str, ...], workspace: str) -> None:
    now = Millis(round(1000 * wall()))
    storage = await open_sqlite(data, clock=wall, owner="library", warn=print)
    for start in range(0, count, _AT_ONCE):
        async with trio.open_nursery() as nursery:
            for number in range(start, min(count, start + _AT_ONCE)):
                source, hot = a_source(number, now, tags)
                if workspace:
                    source = replace(source, managed=Managed(workspace, f"site-{number}", "url=00000000"))
                nursery.start_soon(storage.sources.add, source, SourceState(source.id, hot, b""), storage.lease)
    await storage.aclose()


def a_source(number: int, now: Millis, tags: tuple[str, ...]) -> tuple[Source, SourceRuntime]:
    """Return a source and its runtime: one in fifty is unhealthy, and they fill a tree of folders."""
    url = f"https://host{number % 500}.example/section/{number}/feed.xml"
    source = Source(
        id=SourceId(id_of(seq_at(Millis(now - number)), number)),
        url=url,
        watch_url=url,
        type="feed",
        detection=Detection("feed", "high", "root element <rss version='2.0'>, 25 items", url, "text/xml"),
        created_at=Millis(now - number),
        updated_at=Millis(now - number),
        tags=(*tags, f"topic:{number % 12}", f"label:places/{number % 7}/{number % 3}"),
        found_title=f"Notes of section {number}",
    )
    ill = not number % 50
    hot = SourceRuntime(
        health=Health(0.5, "degraded", "It has not answered for an hour.", now) if ill else Health(),
        looks=900,
        last_look_at=now,
        last_success_at=now,
        last_event_at=Millis(now - number * 1000),
        next_look_at=Millis(now + _SOON + number),
        last_status=304,
    )
    return source, hot
