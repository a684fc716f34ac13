"""A service whose secrets the test knows: none is in its files, answers, pages or output (X20)."""

from __future__ import annotations

import base64
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest
import trio
from msgspec.structs import replace

from actors.settings import Settings
from api.app import SCREENS
from sanderling import keyring
from sanderling.exits import CommandFailed, Exit
from storage.secrets import Vault, written
from storage.sqlite.database import open_keys, open_sqlite
from tests.e2e.service import a_key, a_service, run_command
from tests.e2e.test_dashboard import PASSWORD, token
from tests.storage.contract.builders import a_harvest, a_source
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
MASTER = b"the master key of this very test"
HELLO = "a hello with a token in it"
HEADER, PASSED, ADDRESS, TOKEN = "h34der0fTheHook", "p4ssw0rdOfTheHook", "4ddress0fTheChat", "t0ken0fTheChat"
WATCHED = "ws://127.81.7.3:8099/feed"


def key_file(path: Path, master: bytes) -> dict[str, str]:
    path.write_text(written(master))
    path.chmod(0o600)
    return {"SANDERLING_MASTER_KEY_FILE": str(path)}


def spellings(secret: bytes) -> set[bytes]:
    """The usual encodings of bytes."""
    return {secret, secret.hex().encode(), base64.b64encode(secret), base64.urlsafe_b64encode(secret).rstrip(b"=")}


def those_in(place: str, text: bytes, secrets: Mapping[str, set[bytes]]) -> list[str]:
    return [f"{name} in {place}" for name, forms in secrets.items() if any(form in text for form in forms)]


async def with_secrets(api: httpx.AsyncClient) -> dict[str, str]:
    """Make a destination with two secrets, and chats with credentials; return the secrets, and ids for paths."""
    alert = (await api.post("/v1/alerts", json={"filter_query": ""})).json()["id"]
    there = f"/v1/alerts/{alert}/destinations"
    options = {"headers": f"X-Key: {HEADER}", "username": "anna", "password": PASSED}
    hook = {"url": "http://127.81.7.3:8099/hook", "options": options}
    made = (await api.post(there, json=hook, headers={"Idempotency-Key": "once"})).json()
    for chat in (
        {"kind": "slack", "url": f"http://127.81.7.3:8099/services/{ADDRESS}"},
        {"kind": "telegram", "url": "http://127.81.7.3:8099", "options": {"token": f"1:{TOKEN}", "chat": "1"}},
        {"kind": "telegram", "url": "http://127.81.7.3:8099", "options": {"token": f"{TOKEN}!", "chat": "1"}},
        {"kind": "slack", "url": f"http://10.1.2.3/services/{ADDRESS}"},
    ):
        answer = await api.post(there, json=chat)
        if answer.status_code == 201:
            await api.post(f"/v1/destinations/{answer.json()['id']}/test")
    again = (await api.post(f"/v1/destinations/{made['id']}/rotate-secret")).json()
    await api.post(f"/v1/destinations/{made['id']}/test")
    ids = {"alerts": alert, "destinations": made["id"], "sources": a_source(1).id}
    return ids | {"first": made["secret"], "second": again["secret"]}


async def with_a_hello(folder: Path) -> None:
    """Put a source with a message after its handshake into a folder."""
    storage = await open_sqlite(folder, clock=lambda: 1.8e9, owner="test", warn=print, named=Vault(MASTER))
    source = replace(a_source(1), url=WATCHED, watch_url=WATCHED, type="push", hello=HELLO)
    await storage.sources.add(source, a_harvest(1).state, storage.lease)
    await storage.aclose()


def filled(path: str, ids: Mapping[str, str]) -> str:
    kind = path.removeprefix("/v1").strip("/").partition("/")[0]
    return re.sub(r"{\w+}", ids.get(kind, "none"), path)


async def answers(api: httpx.AsyncClient, ids: Mapping[str, str]) -> AsyncIterator[tuple[str, bytes]]:
    """Request every readable route of the API, and make some mistakes."""
    for path, methods in (await api.get("/openapi.json")).json()["paths"].items():
        if "get" in methods and not re.search(r"stream|/feed|events|export", path):
            answer = await api.get(filled(path, ids))
            yield path, answer.content + repr(answer.headers).encode()
    yield "an error", (await api.post("/v1/alerts", json={"hello": 1})).content
    yield "a stale change", (await api.patch(f"/v1/sources/{ids['sources']}", json={"hello": HELLO * 9999})).content


async def pages(folder: Path, url: str, ids: Mapping[str, str]) -> AsyncIterator[tuple[str, bytes]]:
    link = keyring.set_up_link(Settings(data=str(folder), base_url=url))
    async with httpx.AsyncClient(base_url=url, headers={"Origin": url}, follow_redirects=True, timeout=HANG) as browser:
        form = {"code": link, "password": PASSWORD, "again": PASSWORD}
        await browser.post("/set-up", data=form | {"token": token(await browser.get(link))})
        for screen in SCREENS:
            if screen.method == "GET" and not screen.live:
                yield screen.label, (await browser.get(filled(screen.path, ids))).content


async def said(folder: Path, variables: Mapping[str, str]) -> AsyncIterator[tuple[str, bytes]]:
    """Run the commands that describe an installation."""
    data = ("--data", str(folder))
    for command in (
        ("doctor", "--offline", "--json", *data),
        ("settings", *data),
        ("keys", "list", *data),
        ("keys", "signing", "--jwks", *data),
        ("status", "--once", *data),
    ):
        done = await run_command(*command, SANDERLING_BROWSER="off", **variables)
        yield " ".join(command), done.stdout + done.stderr


async def test_x20_a_running_service_shows_its_secrets_nowhere(tmp_path: Path) -> None:
    folder, variables = tmp_path / "data", key_file(tmp_path / "key", MASTER)
    await with_a_hello(folder)
    admin = keyring.create(Settings(data=str(folder)), "admin", ("admin", "bins:read"))[1]
    found: list[str] = []
    async with a_service(folder, SANDERLING_LOG_LEVEL="debug", **variables) as service:
        limits = await trio.Path(f"/proc/{service.process.pid}/limits").read_text()
        assert re.search(r"^Max core file size +0 +0 ", limits, re.M)
        async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": a_key(folder)}, timeout=HANG) as api:
            made = await with_secrets(api)
            with open_keys(folder, Vault(MASTER)) as keys:
                (signing,) = keys.signing()
            read = (await api.post("/v1/publications", json={"title": "All"})).json()
            token = read["url"].rpartition("/")[2]
            for address in (*read["feeds"].values(), f"{read['url']}/x"):
                assert (await api.get(address)).status_code in (200, 404)
            webhooks = {name: made[name] for name in ("first", "second")}
            secrets = {name: {text.encode(), base64.b64decode(text[6:])} for name, text in webhooks.items()}
            secrets |= {"hello": {HELLO.encode()}, "seed": spellings(signing.seed), "master": spellings(MASTER)}
            secrets |= {text: spellings(text.encode()) for text in (HEADER, PASSED, ADDRESS, TOKEN)}
            secrets["login"] = {base64.b64encode(f"anna:{PASSED}".encode())}
            async for place, text in answers(api, made):
                found += those_in(place, text, secrets)
        async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": admin}, timeout=HANG) as api:
            async for place, text in answers(api, made):
                found += those_in(place, text, secrets)
        for everything in (pages(folder, service.url, made), said(folder, variables)):
            async for place, text in everything:
                found += those_in(place, text, secrets)
        await service.end(signal.SIGKILL)
        secrets["address"] = {token.encode()}  # the API and pages show it to its owner; files and the log never do
        found += those_in("the log", "\n".join(service.log).encode(), secrets)
    for path in [path for path in sorted(folder.iterdir()) if path.is_file()]:
        found += those_in(path.name, path.read_bytes(), secrets)
    assert found == []
    assert (folder / "sanderling.db-wal").stat().st_size > 0


async def test_x20_a_lost_key_is_reported_in_words_and_another_is_taken(tmp_path: Path) -> None:
    folder, old, new = tmp_path / "data", key_file(tmp_path / "old", MASTER), key_file(tmp_path / "new", b"n" * 32)
    data = ("--data", str(folder))
    async with a_service(folder, **old) as service:
        refused = await run_command("keys", "rotate-master", "--to", str(tmp_path / "new"), *data, **old)
        assert refused.returncode == Exit.BAD_DATA and b"in use" in refused.stderr
        await service.end()
    done = await run_command("serve", "--port", "0", *data)
    assert done.returncode == Exit.BAD_SETTING
    for words in (b"SANDERLING_MASTER_KEY_FILE", b"rotate-master --lost", b"restore a backup"):
        assert words in done.stderr
    done = await run_command("keys", "rotate-master", "--to", str(tmp_path / "new"), *data, **old)
    assert done.returncode == 0 and b"are sealed with the new master key" in done.stderr
    async with a_service(folder, **new) as service:
        await service.end()


def test_a_configured_key_is_not_replaced_by_a_generated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDERLING_MASTER_KEY", written(MASTER))
    with pytest.raises(CommandFailed, match="--to new") as told:
        keyring.rotate_master(Settings(data=str(tmp_path)), None, lost=False)
    assert told.value.code is Exit.USAGE and list(tmp_path.iterdir()) == []


def test_x20_no_core_dump_and_no_debugger_of_the_same_user() -> None:
    program = (
        "import ctypes, resource; from sanderling.program import forbid_core_dumps as forbid\n"
        "forbid(); print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "(0, 0) 0"
