"""Published clients in two languages, and our own, read one log through a proxy that keeps cutting their connections.

Each resumes automatically, or as its documentation advises, after the last event that it dispatched. A frame ends with
its id, so a client requests a cut frame again and sees no event twice. One gap remains: a client that stores the id at
its line, and is cut before the empty line, would lose the event. None of these clients does.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import httpx_sse
import msgspec
import pytest
import sseclient
import trio

from api.streams.sse import one_line
from storage.records.event import Stored
from storage.records.identity import START, id_of
from tests.api.clients.cutting import cutting
from tests.api.house import House, ids, on_loopback
from tests.rules.source_files import ROOT
from tests.support.build import a_draft
from tests.support.node import modules
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

TEXT = "Fältet är grönt. \u2028 Zeile\u0085 zwei \u2029 drei 🐦 " * 8
EVENTS = 90
Event = tuple[str, str, str]
Taken = list[Event]


class Place(NamedTuple):
    url: str
    key: str


Client = Callable[[Place], Awaitable[Taken]]


def _httpx_sse(http: httpx.Client, url: str, headers: dict[str, str]) -> Iterator[Event]:
    with httpx_sse.connect_sse(http, "GET", url, headers=headers) as source:
        for event in source.iter_sse():
            if event.data:  # this library also yields comments and the retry hint, without data
                yield event.id, event.event, event.data


def _sseclient(http: httpx.Client, url: str, headers: dict[str, str]) -> Iterator[Event]:
    with http.stream("GET", url, headers=headers) as answer:
        for event in sseclient.SSEClient(answer.iter_bytes()).events():
            yield event.id, event.event, event.data


def resuming(read: Callable[[httpx.Client, str, dict[str, str]], Iterator[Event]], place: Place) -> Taken:
    """Read until the last event with a library that does not reconnect."""
    taken: Taken = []
    with httpx.Client(timeout=30) as http:
        while True:
            last = {"Last-Event-ID": taken[-1][0]} if taken else {}
            try:
                for event in read(http, place.url, {"Authorization": f"Bearer {place.key}"} | last):
                    taken.append(event)
                    if msgspec.json.decode(event[2])["title"] == "end":
                        return taken
            except httpx.TransportError:
                time.sleep(0.01)


async def with_httpx_sse(place: Place) -> Taken:
    return await trio.to_thread.run_sync(resuming, _httpx_sse, place, abandon_on_cancel=True)


async def with_sseclient_py(place: Place) -> Taken:
    return await trio.to_thread.run_sync(resuming, _sseclient, place, abandon_on_cancel=True)


async def _of_program(words: list[str], **more: Any) -> list[str]:
    process = await trio.run_process(words, capture_stdout=True, **more)
    return process.stdout.decode().splitlines()


async def _of_node(script: str, place: Place) -> Taken:
    folder = await trio.to_thread.run_sync(modules, list(Path(__file__).parent.glob("*.mjs")))
    lines = await _of_program(["node", str(folder / script), place.url, place.key])
    return [tuple(msgspec.json.decode(line)) for line in lines]


async def with_eventsource(place: Place) -> Taken:
    return await _of_node("follow_eventsource.mjs", place)


async def with_eventsource_parser(place: Place) -> Taken:
    return await _of_node("follow_parser.mjs", place)


async def with_sanderling_tail(place: Place) -> Taken:
    url, _, query = place.url.partition("/v1/stream?since=")
    words = [
        sys.executable,
        "-m",
        "sanderling",
        "tail",
        "--url",
        url,
        "--since",
        query,
        "--json",
        "--count",
        str(EVENTS),
    ]
    lines = await _of_program(words, cwd=ROOT, env={"SANDERLING_KEY": place.key}, stderr=subprocess.DEVNULL)
    events = [msgspec.json.decode(line) for line in lines]
    return [(event["id"], event["source_type"], line) for event, line in zip(events, lines, strict=True)]


async def write(house: House, log: list[Stored]) -> None:
    """Commit half of the events before the client connects and the others while it reads."""
    for number in range(EVENTS):
        title = str(number) if number < EVENTS - 1 else "end"
        tier = ("feed", "html", "push")[number % 3]
        log += await house.publish(a_draft(title, content=TEXT[: 10 + number * 4], source_type=tier))
        if number > EVENTS // 2:
            await trio.sleep(0.02)


CLIENTS = (with_httpx_sse, with_sseclient_py, with_eventsource, with_eventsource_parser, with_sanderling_tail)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__.removeprefix("with_"))
async def test_a_client_that_is_cut_at_any_byte_ends_with_exactly_the_log(client: Client) -> None:
    log: list[Stored] = []
    async with on_loopback() as (house, port), cutting(port, seed=7) as (proxy, reached_at):
        place = Place(f"http://127.0.0.1:{reached_at}/v1/stream?since={id_of(START, 0)}", await house.key())
        taken: Taken = []
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(write, house, log)
                taken += await client(place)
    expected = [one_line(event.body).decode() for event in log]
    assert [event_id for event_id, _, _ in taken] == ids(log)
    assert [data for _, _, data in taken] == expected
    assert [tier for _, tier, _ in taken] == [("feed", "html", "push")[n % 3] for n in range(EVENTS)]
    assert proxy.cuts > 10, "it was cut off often"
