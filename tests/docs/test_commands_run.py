"""The commands of pages that have no test of their own are run as they are printed, beside one service."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from tests.docs.test_commands import BEGIN, FENCE, PAGES
from tests.e2e.origin import Origin
from tests.e2e.service import SCOPES, Service, a_service
from tests.rules.source_files import ROOT, name_of

HERE = ("alerts", "receivers", "operating", "security", "jobs")
ELSEWHERE = {
    "docs/rendered-pages.md": "they change the machine: tests/sanderling/operations, installing and doctor",
    "README.md": "tests/docs/test_readme.py, tests/api/contract/test_guide.py",
    "docs/api.md": "tests/api/contract/test_guide.py",
    "docs/backup.md": "tests/docs/test_backup_page.py",
    "docs/configuration.md": "tests/docs/test_configuration_page.py",
    "docs/console.md": "tests/sanderling/console: they take the whole terminal",
    "docs/coverage.md": "tests/sanderling/client/test_coverage.py: they name a source of the reader's",
    "docs/install.md": "tests/sanderling/releases, operations/installing: they change the machine; make binary-check",
    "docs/moving.md": "tests/docs/test_moving_page.py, test_moving_whole.py",
    "docs/postgresql.md": "tests/e2e/test_postgres.py",
    "docs/standby.md": "tests/e2e/test_standby.py",
    "docs/start.md": "tests/docs/test_start.py",
    "docs/upgrade.md": "tests/sanderling/migration/test_migrate.py, tests/storage/sqlite/upkeep: of an earlier schema",
    "docs/watching.md": "tests/sanderling/client/test_why.py: they name a source of the reader's",
}
"""Pages whose commands are run, or can't be run here, and where instead."""
FEEDS = """<opml version="2.0"><body><outline text="Reading">
<outline type="rss" text="One" xmlUrl="http://{origin}/feed?one"/><outline type="rss" text="Two" xmlUrl="http://{origin}/feed?two"/>
</outline></body></opml>"""
"""What the page on jobs imports."""
ENDLESS = {
    "status --watch": "until Ctrl-C",
    "listen ": "until Ctrl-C; tests/sanderling/receiver",
    "probe ": "tests/sanderling/receiver",
    "check": "tests/sanderling/operations/test_self_test.py; it takes seconds",
    "tree/sources/019db0a4": "it names a part that was quarantined",
}


def commands(page: str) -> list[str]:
    """Return the command lines that a page prints, in its order, without those that can't end here."""
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    lines = [line.removeprefix("$ ") for fence in FENCE.findall(text) for line in fence.splitlines()]
    own = [line for line in lines if re.match(r"(sanderling|curl --unix-socket) ", line)]
    return [line for line in own if not any(word in line for word in ENDLESS)]


def test_every_page_with_commands_says_where_they_are_run() -> None:
    with_commands = {
        name_of(page)
        for page in PAGES
        for fence in FENCE.findall(page.read_text("utf-8"))
        if BEGIN.search(fence) and "decisions" not in page.parts
    }
    assert with_commands - {f"docs/{page}.md" for page in HERE} - set(ELSEWHERE) == set()


class Reader:
    """Somebody who types what the pages say, with the places of this machine in the place of the examples."""

    def __init__(self, service: Service, folder: Path, origin: str) -> None:
        self.service, self.folder, self.origin = service, folder, origin
        data = Settings(data=str(folder / "data"))
        self.key = keyring.create(data, "reader", (*SCOPES, "bins:read", "bins:write"))[1]

    def client(self) -> Client:
        return Client(self.service.url, self.key)

    async def types(self, line: str) -> None:
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
            "curl ": "curl -sS --max-time 2 ",
        }.items():
            line = line.replace(example, place)
        line = re.sub(r"\bsanderling (?=[a-z])", f"{shlex.quote(sys.executable)} -P -m sanderling ", line)
        variables = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}  # and no key: it is their own machine
        done = await trio.run_process(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=variables,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
        wanted = (0, 28) if "--max-time" in line else (0,)  # a stream is cut by curl
        assert done.returncode in wanted, (line, done.stdout.decode())

    async def address(self) -> str:
        """Return the address of the only bin."""
        async with self.client() as client:
            (bin,) = [one async for one in client.every("/v1/webhook-bins")]
            return str(bin["url"])

    async def sends_samples(self) -> None:
        """Send one to the bin again and again, until cancelled."""
        async with self.client() as client:
            found = [one async for one in client.every("/v1/destinations") if "/bins/" in one["url"]]
            while True:
                await client.ask("POST", f"/v1/destinations/{found[0]['id']}/test")
                await trio.sleep(1)


@pytest.mark.real
async def test_commands_end_well_as_they_are_printed(tmp_path: Path) -> None:
    origin = Origin()
    lines = [line for page in HERE for line in commands(page)]
    last = [line for line in lines if "alerts delete" in line]  # another page needs it
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path / "data") as service:
            reader = Reader(service, tmp_path, origin.place)
            (tmp_path / "headers").write_text("Cookie: session=1\n")
            (tmp_path / "feeds.opml").write_text(FEEDS.format(origin=origin.place))
            async with reader.client() as client:
                await client.ask("POST", "/v1/sources", json={"url": f"http://{origin.place}/feed?example.org/shop"})
            with trio.fail_after(150):
                for line in [line for line in lines if line not in last] + last:
                    async with trio.open_nursery() as beside:
                        if "bins tail" in line:
                            beside.start_soon(reader.sends_samples)
                        await reader.types(line)
                        beside.cancel_scope.cancel()
        nursery.cancel_scope.cancel()
