"""The service answers the requests that pages print, for curl or as plain HTTP, as the pages promise."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from actors.destination_kinds.email import Mail, MailServer
from actors.destination_kinds.messengers.messenger import built_in
from actors.destination_kinds.table import kinds_of
from supervision.mailbox import Mailbox
from tests.api.house import House, on_loopback
from tests.docs.blocks import of, the
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

BY_CURL = ("changing", "feeds-out", "history", "mail", "messengers", "templates", "testing-receivers", "web-push")
IN_WORDS = ("alerts", "deliveries")
SOON = "2026-05-28T20:27:40+00:00"
CURL = """#!/bin/sh
case "$*" in
*-sN*) curl --max-time 1 --fail-with-body "$@" || test $? = 28 ;; # a stream ends with us
*) curl -sS --max-time 30 --fail-with-body "$@" ;;
esac
"""
"""The curl of these pages: a refusal is a failure."""


async def _no_login() -> None:
    return None


AN_AGENT = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}


class Reader:
    """A user with a key, an alert, a webhook, a publication and an event."""

    def __init__(self, house: House, port: int, key: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.key = key
        self.house = house
        self.variables: dict[str, str] = {}

    async def begin(self) -> None:
        mail = Mail(MailServer("mail.test", 587, "starttls", "watch@sanderling.test"), _no_login, self.url)
        kinds = self.house.context.kinds | {"email": kinds_of(built_in(), mail)["email"]}
        object.__setattr__(self.house.context, "kinds", kinds)
        (event,) = await self.house.publish("a price")
        self.event = json.loads(event.body)["id"]
        alert = await self.ask("POST", "/v1/alerts", {"filter_query": "", "name": "prices"})
        hook = {"kind": "webhook", "url": "https://hooks.example.org/in"}
        self.destination = (await self.ask("POST", f"/v1/alerts/{alert['id']}/destinations", hook))["id"]
        self.house.destinations[self.destination] = Mailbox("hook", 8)
        published = await self.ask("POST", "/v1/publications", {"title": "Prices"})
        async with self._client() as client:
            self.revision = (await client.get(f"/v1/alerts/{alert['id']}")).headers["ETag"].strip('"')
        places = dict.fromkeys(("URL", "SERVICE", "SANDERLING_URL"), self.url) | {"FEED": published["feeds"]["atom"]}
        self.variables = places | {
            "ALERT": alert["id"],
            "KEY": self.key,
            "SANDERLING_KEY": self.key,
            "auth": f"Authorization: Bearer {self.key}",
        }

    async def types(self, lines: str, folder: Path) -> str:
        """Run the lines of a page. Fails where the service refuses a request."""
        for example, place in {
            "http://127.0.0.1:8080": self.url,
            "5b0e6a3c9f214d775b0e6a3c": self.revision,
            "curl ": "./curl ",
        }.items():
            lines = lines.replace(example, place)
        done = await trio.run_process(
            ["bash", "-euo", "pipefail", "-c", lines],
            cwd=folder,
            env={"PATH": os.environ["PATH"]} | self.variables,  # noqa: TID251
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, (lines, done.stdout.decode())
        return done.stdout.decode()

    async def ask(self, method: str, path: str, body: Any) -> Any:
        async with self._client() as client:
            answer = await client.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, headers={"X-API-Key": self.key}, timeout=60)


async def test_calls_are_answered_as_their_pages_let_one_expect(tmp_path: Path) -> None:
    (tmp_path / "curl").write_text(CURL)
    (tmp_path / "curl").chmod(0o755)
    async with on_loopback() as (house, port):
        reader = Reader(house, port, await house.key())
        await reader.begin()
        for page in BY_CURL:
            found = [
                block.text for block in of(f"docs/{page}.md", "sh") if "curl " in block.text and block.text[0] != "#"
            ]
            assert found, f"{page} prints none"
            with trio.fail_after(HANG):
                said = [await reader.types(lines, tmp_path) for lines in found]
            assert "".join(said), f"{page}: nothing was answered"
        for page in IN_WORDS:
            for block in of(f"docs/{page}.md", "http"):
                method, path, body = block.text.split(maxsplit=2)
                path = path.replace("{id}", reader.destination)
                answer = await reader.ask(method, path, json.loads(body.replace("<replay_from>", reader.event)))
                assert answer, block


async def test_an_agent_with_the_documented_set_up_is_let_in() -> None:
    named = json.loads(the("docs/agents.md", "json", '{"mcpServers": {"sanderling": {"url"'))["mcpServers"][
        "sanderling"
    ]
    async with on_loopback() as (house, port):
        key = await house.key("stream:read")
        url = named["url"].replace("https://sanderling.example.org", f"http://127.0.0.1:{port}")
        headers = {name: text.replace("svc_...", key) for name, text in named["headers"].items()}
        async with httpx.AsyncClient(headers=headers, timeout=60) as client:
            answer = await client.post(url, json=AN_AGENT)
    assert answer.json()["result"]["serverInfo"]["name"] == "sanderling"


async def test_the_manuals_alarm_follows_heartbeats_and_their_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (alarm,) = of("docs/operating.md", "python")
    async with on_loopback() as (house, port):
        key = await house.key("stream:read")
        text = alarm.text.replace("https://sanderling.example", f"http://127.0.0.1:{port}").replace("svc_...", key)
        (tmp_path / "alarm.py").write_text(text)

        async def said() -> tuple[int, str]:
            done = await trio.run_process(
                ["python3", "alarm.py"],
                cwd=tmp_path,
                capture_stderr=True,
                check=False,
                env={"PATH": os.environ["PATH"]},  # noqa: TID251
            )
            return done.returncode, done.stderr.decode()

        assert await said() == (1, "No heartbeat found. Set heartbeat_event.\n")
        await house.beat()
        code, why = await said()
        assert code == 1 and re.match(r"No heartbeat of Sanderling for \d+ s\n", why), why  # an old one
        (tmp_path / "alarm.py").write_text(
            text.replace("datetime.now(timezone.utc)", f'datetime.fromisoformat("{SOON}")')
        )
        assert await said() == (0, "")
