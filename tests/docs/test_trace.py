"""The traces on the architecture page match a run of the whole service, function by function."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import trio

from tests.actors.test_delivering import HOUR, Town, asked
from tests.rules.source_files import ROOT

ROOMS = ("supervision/", "storage/", "actors/", "api/")


def on_the_page(title: str) -> list[tuple[str, str]]:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    section = page.partition(f"## {title}, by file and function")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/.]+)` \| (`\w+`(?:, `\w+`)*) \|", section, re.MULTILINE)
    assert len(rows) == section.count("\n| `"), "a row names a file and its functions"
    return [(file, name) for file, names in rows for name in re.findall(r"\w+", names)]


@contextmanager
def entered() -> Iterator[dict[tuple[str, str], None]]:
    """Record the product functions that this thread enters, as (file, name), in the order of first calls."""
    found: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if event == "call" and name.startswith(ROOMS):
            found.setdefault((name, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


async def test_an_event_goes_through_these_functions_in_this_order(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            await trio.sleep(HOUR)
            town.titles.insert(0, "Second")
            with entered() as found:
                await trio.sleep(2 * HOUR)
            assert len(town.arrived) == 1
    steps = on_the_page("One event")
    assert len(steps) > 30
    assert [step for step in steps if step not in found] == []
    assert [step for step in found if step in steps] == steps


async def test_a_request_goes_through_these_functions_in_this_order(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            with entered() as found:
                await asked(client, "/v1/sources", url="http://news.test/feed")
    steps = on_the_page("One request")
    assert len(steps) > 10
    assert [step for step in steps if step not in found] == []
    assert [step for step in found if step in steps] == steps


async def test_a_stream_gets_an_event_through_these_functions_in_this_order(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            await trio.sleep(HOUR)
            town.titles.insert(0, "Second")
            lines = []
            with entered() as found:
                async with client.stream("GET", "/v1/stream") as answer:
                    with trio.move_on_after(2 * HOUR) as patience:
                        async for line in answer.aiter_lines():
                            lines.append(line)
                            if "Second" in line:
                                patience.cancel()
            assert "Second" in "".join(lines)
    steps = on_the_page("One stream")
    assert len(steps) > 6
    assert [step for step in steps if step not in found] == []
    assert [step for step in found if step in steps] == steps
