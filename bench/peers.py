"""Compare with other programs: changedetection.io, urlwatch, FastAPI with sse-starlette, a Mercure hub.

`bin/setup peers` installs those from PyPI in an environment of their own, npm the hub. All watch the same pages of a
loopback server: a tenth of them show a clock, and between two rounds some pages get a new paragraph, which is news.
Everything is measured from outside: CPU and memory of the process tree, and what each reports.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from bench.idle import kilobytes, total, tree
from bench.topic import ROOT, Absent, Figure, Row, Topic, size
from tests.e2e.service import SCOPES
from tests.support.node import modules

PAGES, NEWS, ROUNDS = size(400, 10), size(20, 2), size(3, 1)
CLIENTS = size(1_000, 10)
WITHIN = size(300.0, 60.0)
"""Seconds for a program to start, or to check every page once."""
SETTLING = 5.0
"""Seconds from the last fetch of a round to its last report."""
PEERS = ROOT / ".venv-peers" / "bin"
TOPIC = Topic(
    "Peers",
    f"The same {PAGES} pages of 18 KB, one in ten with a clock; rounds with {NEWS} news each: {ROUNDS}. The limit is "
    "the peer in the note. Webhooks: the receiver is away for two seconds as they begin.",
    ("actors", "api/streams", "api/server", "storage"),
    {
        "add": Figure("time to add a page", "ms", "<= 1 x changedetection.io"),
        "check": Figure("CPU of a check", "ms", "<= 1 x changedetection.io"),
        "check_urlwatch": Figure("CPU of a check, against urlwatch", "ms", "<= 1 x urlwatch"),
        "memory": Figure("memory while it watches them", "MB", "<= 1 x changedetection.io"),
        "clocks": Figure("pages reported for their clock alone", "%", "<= 0 x changedetection.io"),
        "clocks_urlwatch": Figure("pages reported for their clock alone, against urlwatch", "%", "<= 0 x urlwatch"),
        "news": Figure("news that was reported", "%", ">= 1 x changedetection.io"),
        "webhooks": Figure("webhooks that arrived", "%", ">= 1 x changedetection.io"),
        "stream": Figure("memory a reader of the stream", "KB", "<= 1 x sse-starlette"),
        "stream_mercure": Figure("memory a reader of the stream, against a Mercure hub", "KB", "<= 1 x Mercure"),
    },
)


# --- the pages and the receiver, in a process of their own -----------------------------------------------------------

SITE: Final = """
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
state = {"news": {}, "fetches": {}, "hooks": [], "away": 0.0}
WORDS = "tide rock shore sand wind gull wave stone pool reef foam salt drift cliff bay kelp mist dune".split()
def paragraph(seed):
    chosen = [WORDS[(seed * 31 + n * (n + seed % 7 + 3)) % len(WORDS)] for n in range(90)]
    return "<p>%s %d.</p>" % (" ".join(chosen), seed)
class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *given): pass
    def answer(self, body, kind="text/html; charset=utf-8", status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path == "/state":
            return self.answer(json.dumps(state).encode(), "application/json")
        if not self.path.startswith("/page/"):
            return self.answer(b"", status=404)
        number = int(self.path.split("/")[2])
        state["fetches"][number] = state["fetches"].get(number, 0) + 1
        news = "".join("<p>News %d: the harbour %d reports a new ferry to island %d at noon.</p>" % (n, number, n + 40)
                       for n in range(state["news"].get(str(number), 0)))
        clock = "<div>%s</div>" % time.strftime("%H:%M:%S") if number % 10 == 3 else ""
        text = "".join(paragraph(number * 100 + n) for n in range(37))
        self.answer(("<!doctype html><html><head><title>Page %d</title></head><body><main><h1>Page %d</h1>%s%s</main>%s"
                     "</body></html>" % (number, number, news, text, clock)).encode())
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/news":
            for number in json.loads(body):
                state["news"][str(number)] = state["news"].get(str(number), 0) + 1
            state["fetches"], state["hooks"], state["away"] = {}, [], time.time() + 2
        elif time.time() < state["away"]:
            return self.answer(b"", status=503)
        else:
            state["hooks"].append(body.decode(errors="replace"))
        self.answer(b"{}", "application/json")
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Site)
server.daemon_threads = True
server.serve_forever()
"""
SSE: Final = """
import asyncio, sys, uvicorn
from fastapi import FastAPI
from sse_starlette.sse import EventSourceResponse
app = FastAPI()
@app.get("/stream")
async def stream():
    async def events():
        yield {"data": "hello"}
        while True:
            await asyncio.sleep(3600)
    return EventSourceResponse(events())
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", ws="none", access_log=False, backlog=4096)
"""
HUB: Final = """
const http = require('http'), jwt = require('jsonwebtoken'), { Hub } = require('mercure');
const hub = new Hub(http.createServer((request, response) => response.end()), { jwtKey: 'bench', path: '/hub' });
hub.onSseConnection = hub.onSseConnection.bind(hub); // 0.1.0 does not, so every reader gets a 401
hub.listen(Number(process.argv[2])).then(() =>
  console.log(jwt.sign({ mercure: { subscribe: ['*'], publish: ['*'] } }, 'bench')));
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int, folder: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block; begin once its port answers. Its output goes into the folder."""
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},  # noqa: TID251
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        until = time.perf_counter() + WITHIN
        while time.perf_counter() < until and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"{command[0]} does not start: {(folder / 'output').read_text()[-2_000:]}")
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process tree, with those of its ended children."""
    ticks = 0
    for each in tree(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class Site:
    """The pages, and the receiver of webhooks."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pages = [f"{self.url}/page/{number}" for number in range(PAGES)]

    def state(self) -> dict[str, object]:
        return dict(httpx.get(f"{self.url}/state", timeout=30).json())

    def publish(self, numbers: Collection[int]) -> None:
        """Add news to pages. The receiver of webhooks is away for two seconds from now on."""
        httpx.post(f"{self.url}/news", json=list(numbers), timeout=30)

    def wait_checked(self) -> int:
        """Wait until each page has been fetched since the last news, and read; return how many fetches there were."""
        wait(lambda: len(self._fetches()) == PAGES)
        time.sleep(SETTLING)
        return sum(self._fetches().values())

    def _fetches(self) -> Mapping[str, int]:
        found = self.state()["fetches"]
        assert isinstance(found, dict)
        return found

    def hooks(self, expected: int) -> int:
        """Wait for webhooks, at most a minute; return how many arrived."""
        until = time.perf_counter() + 60
        while time.perf_counter() < until and len(_list(self.state()["hooks"])) < expected:
            time.sleep(0.5)
        return len(_list(self.state()["hooks"]))


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def number_of(url: str) -> int:
    return int(url.rpartition("/")[2])


class Result(NamedTuple):
    """add and check in seconds, memory in MB, the others are counts; clocks and news are shares."""

    add: float
    check: float
    memory: float
    clocks: float
    news: float
    webhooks: float


def rounds() -> Iterator[set[int]]:
    """Yield the pages that get news in each round. None of them has a clock."""
    still = [number for number in range(PAGES) if number % 10 != 3]
    for turn in range(ROUNDS):
        yield set(still[turn * NEWS : (turn + 1) * NEWS])


def shares(reported: Sequence[set[int]]) -> tuple[float, float]:
    """Return the share of clock pages reported in any round, and the share of news reported in its round."""
    clocks = {number for number in range(PAGES) if number % 10 == 3}
    found = sum(len(seen & news) for seen, news in zip(reported, rounds(), strict=True))
    return len(clocks & set().union(*reported)) / len(clocks), found / (ROUNDS * NEWS)


# --- the watchers ----------------------------------------------------------------------------------------------------


def our_key(program: Sequence[str], variables: Mapping[str, str]) -> str:
    words = [*program, "keys", "create", "--name", "bench", "--rate", "1000000", "--burst", "100000"]
    words += [word for scope in SCOPES for word in ("--scope", scope)]
    env = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(words, env=env, capture_output=True, check=True, text=True).stdout.split()[-1]


def ours(site: Site, folder: Path) -> Result:
    port, data = free_port(), str(folder / "data")
    program = [sys.executable, "-P", "-m", "sanderling"]
    variables = {
        "PYTHONPATH": str(ROOT),
        "SANDERLING_DATA": data,
        "SANDERLING_ALLOW_NETWORKS": "127.0.0.0/8",
        "SANDERLING_HOST_RATE": "1000",
        "SANDERLING_HOST_PARALLEL": "10",
        "SANDERLING_LOOKS_PER_SECOND": "1000",
        "SANDERLING_CADENCE_FLOOR": "10",
        "SANDERLING_CADENCE_CEILING": "60",
    }
    headers = {"X-API-Key": our_key(program, variables)}
    with (
        running([*program, "serve", "--port", str(port)], port, folder, **variables) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client,
    ):
        wait(lambda: client.get("/readyz").is_success)
        began, ids = time.perf_counter(), dict[int, str]()
        for start in range(0, PAGES, 20):
            batch = [{"url": url, "type": "html"} for url in site.pages[start : start + 20]]
            answer = client.post("/v1/sources", json={"sources": batch}).raise_for_status().json()
            ids |= {number_of(each["url"]): each["source"]["id"] for each in answer["results"]}
        add = (time.perf_counter() - began) / PAGES
        alert = client.post("/v1/alerts", json={"filter_query": "ferry"}).raise_for_status().json()
        hook = {"url": f"{site.url}/hook", "most_at_once": NEWS}
        client.post(f"/v1/alerts/{alert['id']}/destinations", json=hook).raise_for_status()
        site.wait_checked()
        spent, reported = 0.0, []
        for news in rounds():
            since, before = time.time(), cpu(process.pid)  # noqa: TID251
            site.publish(news)
            fetches = site.wait_checked()
            spent += (cpu(process.pid) - before) / fetches
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since - 1))
            page = client.get("/v1/events", params={"from": stamp, "limit": 1000}).raise_for_status().json()
            of = {id: number for number, id in ids.items()}
            reported.append({of[event["source_id"]] for event in page["events"] if event["source_id"] in of})
        memory, arrived = total(process.pid, "Pss"), site.hooks(NEWS)
    return Result(add, spent / ROUNDS, memory, *shares(reported), min(1.0, arrived / NEWS))


def wait(done: Callable[[], bool]) -> None:
    until = time.perf_counter() + WITHIN
    while not done():
        assert time.perf_counter() < until, f"not every page was checked within {WITHIN:.0f} s"
        time.sleep(1)


def changedetection(site: Site, folder: Path) -> Result:
    port = free_port()
    variables = {
        "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
        "DISABLE_VERSION_CHECK": "yes",
        "LLM_FEATURES_DISABLED": "true",
        "LOGGER_LEVEL": "ERROR",
    }
    program = [str(PEERS / "changedetection.io"), "-h", "127.0.0.1", "-p", str(port), "-C", "-d", str(folder / "data")]
    with running(program, port, folder, **variables) as process:
        saved = folder / "data" / "changedetection.json"
        wait(saved.exists)
        key = json.loads(saved.read_text())["settings"]["application"]["api_access_token"]
        url = f"http://127.0.0.1:{port}/api/v1"
        with httpx.Client(headers={"x-api-key": key}, timeout=60) as client:

            def watches() -> Sequence[Mapping[str, Any]]:
                found = client.get(f"{url}/watch").raise_for_status().json().values()
                return [each for each in found if each["url"].startswith(site.url)]

            for uuid in client.get(f"{url}/watch").raise_for_status().json():
                client.delete(f"{url}/watch/{uuid}").raise_for_status()  # its examples
            began = time.perf_counter()
            for page in site.pages:
                hook = f"json://{site.url.removeprefix('http://')}/hook"
                client.post(f"{url}/watch", json={"url": page, "notification_urls": [hook]}).raise_for_status()
            add = (time.perf_counter() - began) / PAGES
            client.get(f"{url}/watch", params={"recheck_all": "1"})
            site.wait_checked()
            spent, reported = 0.0, []
            for news in rounds():
                since, before = int(time.time()), cpu(process.pid)  # noqa: TID251
                time.sleep(1)  # its times are whole seconds
                site.publish(news)
                client.get(f"{url}/watch", params={"recheck_all": "1"}).raise_for_status()
                fetches = site.wait_checked()
                spent += (cpu(process.pid) - before) / fetches
                reported.append({number_of(each["url"]) for each in watches() if each["last_changed"] > since})
            clocks = sum(number % 10 == 3 for number in range(PAGES))
            memory, arrived = total(process.pid, "Pss"), site.hooks(NEWS + clocks)
    return Result(add, spent / ROUNDS, memory, *shares(reported), min(1.0, arrived / NEWS))


def urlwatch(site: Site, folder: Path) -> Result:
    """It runs once a round and ends, as cron starts it."""
    jobs, settings = folder / "urls.yaml", folder / "urlwatch.yaml"
    jobs.write_text("---\n".join(f"url: {page}\n" for page in site.pages))
    settings.write_text("report: {text: {line_length: 200}, stdout: {enabled: true, color: false}}\n")
    command = [str(PEERS / "urlwatch"), "--urls", str(jobs), "--config", str(settings), "--cache", str(folder / "db")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251

    def check() -> str:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    check()
    before, reported = resource.getrusage(resource.RUSAGE_CHILDREN), []
    for news in rounds():
        site.publish(news)
        changed = re.findall(r"^CHANGED: (\S+)", check(), re.M | re.I)
        reported.append({number_of(url) for url in changed})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Result(0, spent / ROUNDS / PAGES, after.ru_maxrss * 1024 / 1e6, *shares(reported), 0)


# --- streams ---------------------------------------------------------------------------------------------------------


def reader_memory(process: subprocess.Popen[bytes], port: int, head: str) -> float:
    """Return the memory that each of many silent readers adds to a server, in KB."""

    def connect(count: int) -> list[socket.socket]:
        clients = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(count)]
        for client in clients:
            client.sendall(f"{head}\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
        for client in clients:
            first = client.recv(4_096)
            assert b" 200 " in first, first[:200]
        return clients

    warm = connect(20)
    before = kilobytes(process.pid, "Anonymous")
    clients = connect(CLIENTS)
    time.sleep(1)
    found = 1.024 * (kilobytes(process.pid, "Anonymous") - before) / CLIENTS
    for client in (*warm, *clients):
        client.close()
    return found


def our_reader(folder: Path) -> float:
    port, program = free_port(), [sys.executable, "-P", "-m", "sanderling"]
    variables = {"PYTHONPATH": str(ROOT), "SANDERLING_DATA": str(folder / "data")}
    variables |= {"SANDERLING_KEY_STREAMS": "100000", "SANDERLING_ADDRESS_CONNECTIONS": "100000"}
    key = our_key(program, variables)
    with running([*program, "serve", "--port", str(port)], port, folder, **variables) as process:
        wait(lambda: httpx.get(f"http://127.0.0.1:{port}/readyz").is_success)
        return reader_memory(process, port, f"GET /v1/stream HTTP/1.1\r\nX-API-Key: {key}")


def starlette_reader(folder: Path) -> float:
    port = free_port()
    with running([str(PEERS / "python"), "-c", SSE, str(port)], port, folder) as process:
        return reader_memory(process, port, "GET /stream HTTP/1.1")


def mercure_reader(folder: Path) -> float:
    packages = modules(lists=Path(__file__).parent / "peers_npm")
    port, script = free_port(), folder / "hub.js"
    script.write_text(HUB)
    with running(["node", str(script), str(port)], port, folder, NODE_PATH=str(packages / "node_modules")) as process:
        wait(lambda: (folder / "output").read_text().strip() != "")
        token = (folder / "output").read_text().strip()
        return reader_memory(process, port, f"GET /hub?topic=x HTTP/1.1\r\nAuthorization: Bearer {token}")


# --- rows ------------------------------------------------------------------------------------------------------------


def version(package: str) -> str:
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    done = subprocess.run([str(PEERS / "python"), "-c", code, package], capture_output=True, text=True, check=True)
    return f"{package} {done.stdout.strip()}"


def watched(watch: Callable[[Site, Path], Result]) -> Result:
    """Run a watcher against a new site."""
    with tempfile.TemporaryDirectory() as place:
        port, folder = free_port(), Path(place)
        (folder / "site").mkdir()
        with running([sys.executable, "-c", SITE, str(port)], port, folder / "site"):
            return watch(Site(port), folder)


def read(reader: Callable[[Path], float]) -> float:
    with tempfile.TemporaryDirectory() as place:
        return reader(Path(place))


def rows() -> Iterator[Row]:
    if not PEERS.exists():
        raise Absent("the peers are not installed: bin/setup peers")
    we, other, third = watched(ours), watched(changedetection), watched(urlwatch)
    beside, cron = version("changedetection.io"), version("urlwatch")
    yield Row("add", 1e3 * we.add, 1e3 * other.add, beside)
    yield Row("check", 1e3 * we.check, 1e3 * other.check, beside)
    yield Row("check_urlwatch", 1e3 * we.check, 1e3 * third.check, cron)
    yield Row("memory", we.memory, other.memory, beside)
    yield Row("clocks", 100 * we.clocks, 100 * other.clocks, beside)
    yield Row("clocks_urlwatch", 100 * we.clocks, 100 * third.clocks, cron)
    yield Row("news", 100 * we.news, 100 * other.news, f"{beside}; urlwatch {100 * third.news:.0f} %")
    yield Row("webhooks", 100 * we.webhooks, 100 * other.webhooks, beside)
    ours_read = read(our_reader)
    yield Row("stream", ours_read, read(starlette_reader), version("sse-starlette"))
    yield Row("stream_mercure", ours_read, read(mercure_reader), "mercure 0.1.0 from npm")
