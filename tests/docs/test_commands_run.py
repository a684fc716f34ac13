"""Runs the commands of pages without their own test as printed, several pages against one service."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from tests.docs.blocks import of, the
from tests.e2e.origin import Origin
from tests.e2e.service import SCOPES, Service, a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

HERE = (
    ("alerts", "testing-receivers", "security-access", "feeds-out"),
    ("operating", "coverage", "watching"),
    ("jobs",),
)
"""Pages by the service that their commands run against, one after the other."""
FEEDS = """<opml version="2.0"><body><outline text="Reading">
<outline type="rss" text="One" xmlUrl="http://{origin}/feed?one"/><outline type="rss" text="Two" xmlUrl="http://{origin}/feed?two"/>
</outline></body></opml>"""
"""The file that the page on jobs imports."""
ENDLESS = {
    "listen ": "until Ctrl-C; tests/clients/receiver",
    "probe ": "tests/clients/receiver",
    "check": "tests/sanderling/operations/test_self_test.py; it takes seconds",
    "tree/sources/019db0a4": "it names a part that was quarantined",
}


def commands(page: str) -> list[str]:
    """Return the command lines of a page in order, without those that can't end here."""
    found = of(f"docs/{page}.md", "sh", "console")
    lines = [line.removeprefix("$ ") for block in found for line in block.text.splitlines()]
    own = [line for line in lines if re.match(r"(sanderling|curl --unix-socket) ", line)]
    return [line for line in own if not any(word in line for word in ENDLESS)]


class Reader:
    """A reader typing the pages' commands, with this machine's places for the examples."""

    def __init__(self, service: Service, folder: Path, origin: str) -> None:
        self.service, self.folder, self.origin = service, folder, origin
        data = Settings(data=str(folder / "data"))
        self.key = keyring.create(data, "reader", (*SCOPES, "bins:read", "bins:write"))[1]

    def client(self) -> Client:
        return Client(self.service.url, self.key)

    async def types(self, line: str) -> str:
        """Run a line and return its output. Fails on a bad exit code."""
        for example, place in {
            "https://hooks.example.org/in": f"http://{self.origin}/in",
            "https://shop.example/": f"http://{self.origin}/page?",
            "https://status.example/": f"http://{self.origin}/feed?",
            "https://app.example/api/prices": f"http://{self.origin}/items.json?app.example/api/prices",
            "https://app.example/prices": f"http://{self.origin}/page?app.example/prices",
            "https://members.example/prices": f"http://{self.origin}/page?members.example/prices",
            "https://members.example/terms": f"http://{self.origin}/page?members.example/terms",
            "https://town.example/notices": f"http://{self.origin}/page?town.example/notices",
            "http://127.0.0.1:8080/bins/x2Vv3M": await self.address() if "x2Vv3M" in line else "",
            "http://127.0.0.1:8080": self.service.url,
            "019a4c77": "bins/",
            "…": "3",
            "curl ": "curl -sS --max-time 2 ",
        }.items():
            line = line.replace(example, place)
        line = re.sub(r"\bsanderling (?=[a-z])", f"{shlex.quote(sys.executable)} -P -m sanderling ", line)
        # and no key: it is their own machine
        variables = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        done = await trio.run_process(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=variables,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
        wanted = (0, 28) if "--max-time" in line else (0,)  # curl ends a stream
        assert done.returncode in wanted, (line, done.stdout.decode())
        return done.stdout.decode()

    async def address(self) -> str:
        """Return the address of the only bin."""
        async with self.client() as client:
            (bin,) = [one async for one in client.every("/v1/webhook-bins")]
            return str(bin["url"])

    async def sends_samples(self) -> None:
        """Send a sample to the bin again and again, until cancelled."""
        async with self.client() as client:
            found = [one async for one in client.every("/v1/destinations") if "/bins/" in one["url"]]
            while True:
                await client.ask("POST", f"/v1/destinations/{found[0]['id']}/test")
                await trio.sleep(1)

    async def is_an_agent(self) -> str:
        """Return the agents page's command's answer to an agent's first message."""
        named = json.loads(the("docs/agents.md", "json", '{"mcpServers": {"sanderling": {"command"'))["mcpServers"]
        words = shlex.join([named["sanderling"]["command"], *named["sanderling"]["args"]])
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
        return await self.types(f"echo {shlex.quote(json.dumps(begin))} | {words} ")


async def prepare(reader: Reader, folder: Path) -> None:
    """Make the sources, the alert and the files that the pages assume."""
    (folder / "headers").write_text("Cookie: session=1\n")
    (folder / "address.txt").write_text(f"http://{reader.origin}/in\n")
    (folder / "posted").write_text(the("docs/jobs.md", "http").replace("…", "3"))
    (folder / "feeds.opml").write_text(FEEDS.format(origin=reader.origin))
    async with reader.client() as client:
        for url in ("feed?example.org/shop", "page?example.org/prices", "feed?ferry"):
            await client.ask("POST", "/v1/sources", json={"url": f"http://{reader.origin}/{url}"})
        await client.ask("POST", "/v1/alerts", json={"filter_query": "tickets", "name": "Day tickets"})
        (folder / "jwks.json").write_bytes((await client.ask("GET", "/.well-known/jwks.json")).content)


@pytest.mark.real
@pytest.mark.parametrize("pages", HERE, ids="-".join)
async def test_commands_end_well_as_they_are_printed(tmp_path: Path, pages: Sequence[str]) -> None:
    origin = Origin()
    lines = [line for page in pages for line in commands(page)]
    last = [line for line in lines if "alerts delete" in line]  # another page needs it
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path / "data") as service:
            reader = Reader(service, tmp_path, origin.place)
            await prepare(reader, tmp_path)
            with trio.fail_after(HANG):
                for line in [line for line in lines if line not in last] + last:
                    async with trio.open_nursery() as beside:
                        if "bins tail" in line:
                            beside.start_soon(reader.sends_samples)
                        await reader.types(line)
                        beside.cancel_scope.cancel()
                if "jobs" in pages:
                    await reader.types("sanderling sources edit app.example/api/prices --headers-file posted")
                said = json.loads(await reader.is_an_agent())
                assert said["result"]["serverInfo"]["name"] == "sanderling"
        nursery.cancel_scope.cancel()
