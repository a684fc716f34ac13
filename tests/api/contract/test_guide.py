"""Runs every program of docs/api.md, as printed, against a live service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import trio

from sanderling.environment import environ
from tests.api.clients.cutting import cutting
from tests.api.contract.live import a_tireless_key
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.real

PAGE = ROOT / "docs/api.md"
_BLOCK = re.compile(r"^```(?:sh|python|js)\n((?:#|//) ([\w.]+): .*?)^```$", re.M | re.S)
PROGRAMS = {name: text for text, name in _BLOCK.findall(PAGE.read_text("utf-8"))}
SHOWN: dict[str, str] = {
    "key.sh": r"shown only now",
    "source.sh": r'"detected_type":"feed".*"tags":\["topic:python"\]',
    "health.sh": r'"score":1\.0.*"flag":"ok".*\n.*"state":"active"',
    "tag.sh": r'"schedule":"30m".*\n.*"effective":\{"schedule":"30m"',
    "stream.sh": r"(?s)^retry: 3000\n.*(event: feed\ndata: \{.*?\}\nid: [0-9a-f-]{36}\n\n){2}",
    "resume.sh": r"(?s)^retry: 3000\n.*(event: feed\ndata: .*?\n\n){2}",
    "paging.sh": r'^("id":"[0-9a-f-]{36}"\n){3}$',
    "alert.sh": r'"name":"Releases".*"channel":"releases"',
    "destination.sh": r'(?s)"secret":"whsec_.*"result":"sent".*"signature_check":\{"hmac":\{"ok":true',
    "wrong.sh": r'/problems/invalid-request".*"location":"body\.tag"',
    "limits.sh": r"(?i)ratelimit-remaining: \d+",
}
"""The expected output of each shell snippet."""
FEEDS = re.compile(r"https://github\.com/[\w/-]+\.atom")


class Place(NamedTuple):
    service: Service
    origin: Origin
    folder: Path
    key: str


@asynccontextmanager
async def a_place(folder: Path) -> AsyncIterator[Place]:
    """Run a service and an origin with two notes."""
    origin = Origin()
    origin.items = ["the first note", "a release note"]
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(folder) as service:
            yield Place(service, origin, folder, a_tireless_key(folder))
        nursery.cancel_scope.cancel()


def test_every_program_of_the_guide_is_run() -> None:
    assert set(PROGRAMS) == {*SHOWN, "follow.py", "stream.mjs", "follow.mjs", "page.mjs"}
    fences = re.findall(r"^```(?:sh|python|js)\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    generators = [text for text in fences if "openapi-" in text]  # tests/docs/programs.py runs these two
    assert len(generators) == 2 and len(PROGRAMS) == len(fences) - 2, "each has its name"


async def test_the_shell_snippets_print_the_documented_output(tmp_path: Path) -> None:
    """Run them in one shell, in page order."""
    async with a_place(tmp_path / "data") as place:
        feeds = iter(range(10))
        script = ""
        for name in SHOWN:
            text = FEEDS.sub(lambda _: f"http://{place.origin.place}/feed?{next(feeds)}", PROGRAMS[name])
            text = text.replace("http://127.0.0.1:8080", place.service.url)
            script += text.replace("bin/sanderling", f"{sys.executable} -P -m sanderling") + f"\necho '--- {name}'\n"
        with trio.fail_after(HANG):
            done = await trio.run_process(
                ["bash", "-uc", script],
                cwd=tmp_path,
                env={
                    "PYTHONPATH": str(ROOT),
                    "PATH": environ()["PATH"],
                    "SANDERLING_DATA": str(tmp_path / "data"),
                },
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
            )
    printed = re.split(r"^--- ([\w.]+)\n", done.stdout.decode(), flags=re.M)
    parts = dict(zip(printed[1::2], printed[::2], strict=False))
    for name, expected in SHOWN.items():
        assert re.search(expected, parts[name]), f"{name} printed:\n{parts[name]}"


FOLLOWERS = {"follow.py": sys.executable, "follow.mjs": "node"}


@pytest.mark.parametrize("name", FOLLOWERS)
async def test_a_follower_yields_each_event_once_through_disconnects_and_a_restart(tmp_path: Path, name: str) -> None:
    runtime = shutil.which(FOLLOWERS[name])
    if runtime is None:
        pytest.skip(f"{FOLLOWERS[name]} is not installed here")
    for written in ("follow.py", "stream.mjs", "follow.mjs"):
        (tmp_path / written).write_text(PROGRAMS[written], "utf-8")
    told: list[str] = []
    async with a_place(tmp_path / "data") as place:
        # The proxy lets a frame or two pass, then cuts between frames or inside one.
        async with cutting(int(place.service.url.rpartition(":")[2]), seed=4, most=2_500) as (proxy, port):
            variables = {"URL": f"http://127.0.0.1:{port}", "KEY": place.key, "PATH": environ()["PATH"]}
            titles = [f"note {number}" for number in range(4)]
            source = await _add(place)
            (tmp_path / "last-event-id").write_text(await _first(place))
            async with _following([runtime, name], tmp_path, variables, told):
                await _until(told, 1)
            place.origin.items += titles[:2]
            await _look(place, source)
            async with _following([runtime, name], tmp_path, variables, told):
                await _until(told, 3)
                place.origin.items += titles[2:]
                await _look(place, source)
                await _until(told, 5)
        assert proxy.cuts > 0
    seen = [line.split(" ", 1)[1].partition(" http")[0] for line in told]
    assert len(seen) == len(set(seen)) == 5 and set(seen) > set(titles)


async def test_the_page_shows_new_events_as_text(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed here")
    told: list[str] = []
    async with a_place(tmp_path / "data") as place:
        browser = (
            f"globalThis.location = {{ origin: {json.dumps(place.service.url)} }};\n"
            f"globalThis.window = {{ KEY: {json.dumps(place.key)} }};\n"
            "const kept = new Map();\n"
            "globalThis.localStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v) };\n"
            "const list = { prepend: (item) => console.log(`0 ${item.textContent} .`) };\n"
            "globalThis.document = { querySelector: () => list, createElement: () => ({}) };\n"
            'await import("./page.mjs");\n'
        )
        for written, text in (("stream.mjs", PROGRAMS["stream.mjs"]), ("page.mjs", PROGRAMS["page.mjs"])):
            (tmp_path / written).write_text(text, "utf-8")
        (tmp_path / "browser.mjs").write_text(browser, "utf-8")
        async with _following([node, "browser.mjs"], tmp_path, {"PATH": environ()["PATH"]}, told):
            await _one_stream(place)
            await _add(place)
            await _until(told, 2)
    assert sorted(told) == ["0 a release note .", "0 the first note ."]


@asynccontextmanager
async def _following(words: list[str], folder: Path, variables: dict[str, str], told: list[str]) -> AsyncIterator[None]:
    """Run a follower during the block, and collect its output lines."""
    process = await trio.lowlevel.open_process(words, cwd=folder, env=variables, stdout=subprocess.PIPE)
    output = process.stdout
    assert output is not None

    async def collect() -> None:
        rest = b""
        async for piece in output:
            *lines, rest = (rest + piece).split(b"\n")
            told.extend(line.decode() for line in lines)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(collect)
            yield
            process.kill()
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()
        with suppress(trio.ClosedResourceError):
            await output.aclose()


async def _until(told: list[str], many: int) -> None:
    await until(lambda: len(told) >= many)
    await trio.sleep(0.3)  # time for a duplicate to arrive
    assert len(told) == many, told


async def _add(place: Place) -> str:
    body = {"url": f"http://{place.origin.place}/feed", "backfill": 5}
    return str((await _ask(place, "POST", "/v1/sources", body))["id"])


async def _one_stream(place: Place) -> None:
    """Wait until a stream is open."""
    async with httpx.AsyncClient(base_url=place.service.url, headers={"X-API-Key": place.key}, timeout=HANG) as client:
        with trio.fail_after(HANG):
            while not re.search(r"^sanderling_streams_open 1(\.0)?$", (await client.get("/metrics")).text, re.M):  # noqa: ASYNC110 - another process's figure
                await trio.sleep(0.1)


async def _first(place: Place) -> str:
    """Wait for two events and return the id of the first in the answer."""
    with trio.fail_after(HANG):
        while True:
            events = await _ask(place, "GET", "/v1/events", None)
            found = events["events"]
            if isinstance(found, list) and len(found) == 2:
                return str(found[0]["id"])
            await trio.sleep(0.1)


async def _look(place: Place, source: str) -> None:
    """Check a source as soon as the rate limit permits."""
    with trio.fail_after(HANG):
        while "id" not in await _ask(place, "POST", f"/v1/sources/{source}/check", None):  # noqa: ASYNC110  # another process
            await trio.sleep(0.3)


async def _ask(place: Place, method: str, path: str, body: object) -> dict[str, object]:
    async with httpx.AsyncClient(base_url=place.service.url, headers={"X-API-Key": place.key}, timeout=HANG) as client:
        answer = await client.request(method, path, **({"json": body} if body else {}))
    return dict(answer.json())
