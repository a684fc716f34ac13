"""Documents made to hang, blow up or reach out, in the product's own worker (X6, X8, X9)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import trio

from actors.content.messages import BodyRequest, PageLook, PageRequest
from actors.settings import Settings
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from tests.actors.jail.test_pool import a_jail

pytestmark = pytest.mark.real
WORKER = [sys.executable, "-m", "actors.jail.parent"]
URL = "https://a.example/"
WORDS = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it. "
TASKS = ("detect", "look_feed", "look_page")


def rss(title: str, declared: str = "") -> bytes:
    return (
        f"<?xml version='1.0'?>{declared}<rss version='2.0'><channel><title>t</title>"
        f"<item><title>{title}</title><link>/1</link></item></channel></rss>"
    ).encode()


def laughs(base: str = "lol", levels: int = 9) -> bytes:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, levels + 1))
    return rss(f"&a{levels};", f'<!DOCTYPE rss [<!ENTITY a0 "{base}">{entities}]>')


def bombs() -> dict[str, bytes]:
    return {
        "billion laughs": laughs(),
        "quadratic blow-up": rss("&a;" * 50_000, f'<!DOCTYPE rss [<!ENTITY a "{"x" * 50_000}">]>'),
        "parameter entities": rss("x", "<!DOCTYPE rss [<!ENTITY % a \"<!ENTITY b SYSTEM 'b'>\">%a;%a;]>"),
        "an entity of itself": rss("&a;", '<!DOCTYPE rss [<!ENTITY a "&b;"><!ENTITY b "&a;">]>'),
        "300,000 attributes": b"<p " + b" ".join(b"a%d=1" % n for n in range(300_000)) + b">x</p>",
        "200,000 nested divs": b"<div>" * 200_000 + b"x" + b"</div>" * 200_000,
        "200,000 nested elements of XML": b"<rss>" + b"<a>" * 200_000 + b"</a>" * 200_000 + b"</rss>",
        "a million escaped comment openings": rss("&lt;!--" * 150_000),
        "a million open brackets": b"<html><body>" + b"<" * 1_000_000,
        "one unclosed comment": b"<html><body><!--" + b"-" * 2_000_000,
        "one unclosed CDATA": b"<rss version='2.0'><channel><![CDATA[" + b"]" * 2_000_000,
        "5 MB of text": b"<html><body>" + f"<p>{WORDS}</p>".encode() * 50_000,
        "5 MB in one paragraph": b"<html><body><p>" + WORDS.encode() * 50_000,
        "100,000 empty entries": b"<rss version='2.0'><channel>" + b"<item/>" * 100_000 + b"</channel></rss>",
        "a deep JSON feed": b'{"version":"https://jsonfeed.org/version/1.1","items":' + b"[" * 100_000,
        "a number of a million digits": b'{"version":"https://jsonfeed.org/version/1.1","items":[' + b"9" * 1_000_000,
        "NUL": b"\x00" * 1_000_000,
        "UTF-7 and a foreign encoding": b"<?xml version='1.0' encoding='utf-7'?><rss version='2.0'>+ADw-</rss>",
        "a codec that is none of text": b"<?xml version='1.0' encoding='zip'?><rss version='2.0'></rss>",
    }


def request(task: str, body: bytes) -> bytes:
    made = {"detect": BodyRequest, "look_feed": BodyRequest, "look_page": PageRequest}[task]
    return msgspec.msgpack.encode(made(body, "text/xml" if task == "look_feed" else "text/html", URL))


async def test_x6_x8_any_input_to_the_worker_ends_in_time_and_delays_nothing() -> None:
    settings, calls, ticks, ended = Settings(), 0, 0, dict[str, str]()

    async def tick() -> None:
        nonlocal ticks
        while True:
            await trio.sleep(0.01)
            ticks += 1

    async with a_jail(WORKER, memory=settings.worker_memory) as jail, trio.open_nursery() as nursery:
        nursery.start_soon(tick)
        for name, body in bombs().items():
            for task in TASKS:
                calls += 1
                try:
                    answer = await jail.call(task, request(task, body), deadline=settings.parse_deadline)
                except (WorkerTooSlow, WorkerDied, TaskRefused) as outcome:
                    assert str(outcome), name
                    assert "must not do this" not in str(outcome), name
                    ended[f"{name}, {task}"] = type(outcome).__name__
                else:
                    assert len(answer) < 16 << 20, f"{name} is amplified by {task}"
        nursery.cancel_scope.cancel()
    assert ticks > 4 * calls, "a loop that stood still would have ticked once a call"
    assert "WorkerTooSlow" in ended.values() or "TaskRefused" in ended.values(), "none of it is hostile any more"


@dataclass
class Lures:
    """Targets for a document: a pipe that hangs any reader, and a port that counts its callers."""

    pipe: Path
    port: int
    callers: int = 0


@pytest.fixture
async def lures(tmp_path: Path, nursery: trio.Nursery) -> Lures:
    pipe = tmp_path / "secret"
    os.mkfifo(pipe)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    found = Lures(pipe, listener.socket.getsockname()[1])

    async def count(stream: trio.abc.Stream) -> None:
        found.callers += 1

    nursery.start_soon(trio.serve_listeners, count, [listener])
    return found


def reaching(lures: Lures) -> Iterator[tuple[str, bytes]]:
    for where in (f"file://{lures.pipe}", str(lures.pipe), f"http://127.0.0.1:{lures.port}/x"):
        for name, declared in {
            "entity": f'<!DOCTYPE rss [<!ENTITY a SYSTEM "{where}">]>',
            "parameter entity": f'<!DOCTYPE rss [<!ENTITY % b SYSTEM "{where}">%b;<!ENTITY a "x">]>',
            "public entity": f'<!DOCTYPE rss [<!ENTITY a PUBLIC "p" "{where}">]>',
            "external DTD": f'<!DOCTYPE rss SYSTEM "{where}">',
            "public DTD": f'<!DOCTYPE rss PUBLIC "-//x" "{where}">',
            "stylesheet": f'<?xml-stylesheet type="text/xsl" href="{where}"?>',
        }.items():
            yield f"{name} {where}", rss("&a;" if "ENTITY a" in declared else "x", declared)
        include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{where}" parse="text"/>'
        yield f"inclusion {where}", rss(include)
        yield (
            f"schema {where}",
            rss(f'<x xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="u {where}"/>'),
        )
        yield f"path as a document {where}", where.encode()


async def test_x6_no_document_makes_the_worker_open_a_file_or_a_connection(lures: Lures) -> None:
    """No hook sees C code open the pipe, but the pipe would hold the worker until its deadline."""
    async with a_jail(WORKER, memory=Settings().worker_memory) as jail:
        for name, body in reaching(lures):
            for task in TASKS:
                try:
                    await jail.call(task, request(task, body), deadline=5)
                except TaskRefused:
                    continue
                except (WorkerTooSlow, WorkerDied) as outcome:
                    pytest.fail(f"{name}, {task}: {outcome}")
        assert jail.statistics().killed == 0
    assert lures.callers == 0


async def test_x9_a_page_below_the_depth_limit_is_partial_and_no_change() -> None:
    text = f"<p>{WORDS}One.</p><p>{WORDS}Two.</p><p>{WORDS}Three.</p>"
    last = f"<p>{WORDS}Four.</p>"
    plain = f"<html><body><h1>Title</h1>{text}{last}</body></html>".encode()
    deep = f"<html><body><h1>Title</h1>{text}{'<div>' * 2600}{last}</body></html>".encode()
    async with a_jail(WORKER, memory=Settings().worker_memory) as jail:

        async def look(body: bytes, memory: bytes | None = None) -> PageLook:
            asked = msgspec.msgpack.encode(PageRequest(body, "text/html", URL, memory=memory))
            return msgspec.msgpack.decode(await jail.call("look_page", asked, deadline=5), type=PageLook)

        first = await look(plain)
        assert (first.kind, first.partial) == ("baseline", False)
        second = await look(deep, first.memory)
        assert second.partial
        assert second.kind != "changed"
