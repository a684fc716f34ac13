"""Two issuers of others, on loopback: oidc-provider from npm and Canaille from PyPI.

A person signs in through their own pages, gets the role of a group, and signs out there; a person without a group is
refused. Their packages are installed outside of the project; a test whose issuer can't be is skipped.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
import trio
from lxml import html

from tests.e2e.service import Service, a_service
from tests.support.canaille import canaille
from tests.support.node import modules
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

HERE = Path(__file__).parent
SECRET = "a-long-secret-of-the-client"


def from_npm() -> Sequence[str]:
    folder, node = modules([HERE / "oidc_provider.mjs"]), shutil.which("node")
    assert node is not None
    return [node, str(folder / "oidc_provider.mjs")]


def from_pypi() -> Sequence[str]:
    return [str(canaille()), str(HERE / "canaille_issuer.py")]


ISSUERS = pytest.mark.parametrize("command", [from_npm, from_pypi])


@asynccontextmanager
async def an_issuer(command: Sequence[str], port: int, callback: str) -> AsyncIterator[None]:
    process = await trio.lowlevel.open_process(
        [*command, str(port), callback], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        with trio.fail_after(HANG):
            said = b""
            while b"ready" not in said:
                piece = await process.stdout.receive_some()
                assert piece, "the issuer has ended"
                said += piece
            while True:
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.05)
        yield
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()


class Person:
    """A browser of a person who fills in each form of the issuer with the name and any password."""

    def __init__(self, name: str, service: Service) -> None:
        self.name, self.service = name, service
        self.client = httpx.AsyncClient(timeout=HANG)
        self.answer: httpx.Response

    @property
    def text(self) -> str:
        return " ".join(html.document_fromstring(self.answer.text).text_content().split())

    @property
    def is_ours(self) -> bool:
        return str(self.answer.url).startswith(self.service.url)

    async def open(self, path: str) -> None:
        await self._go("GET", self.service.url + path)
        for _ in range(5):
            if self.is_ours or not (forms := html.document_fromstring(self.answer.text).forms):
                return
            form = next(one for one in forms if one.method == "POST")
            fields = dict(form.form_values())
            fields |= {name: self.name for name in ("login", "password") if name in form.fields}
            buttons = form.xpath(".//button[@name] | .//input[@type='submit' and @name]")
            agreeing = [one for one in buttons if one.get("value") == "accept"]
            fields |= {one.get("name"): one.get("value", "") for one in (agreeing or buttons)[:1]}
            await self._go("POST", urljoin(str(self.answer.url), form.get("action", "")), fields)

    async def _go(self, method: str, url: str, fields: dict[str, str] | None = None) -> None:
        """Follow redirects as a browser does: also from one site to another."""
        for _ in range(12):
            self.answer = await self.client.request(method, url, data=fields)
            if not self.answer.is_redirect:
                return
            method, url, fields = "GET", urljoin(url, self.answer.headers["Location"]), None
        raise AssertionError(f"too many redirects, the last to {url}")


@asynccontextmanager
async def a_harbour(folder: Path, command: Sequence[str]) -> AsyncIterator[tuple[Callable[[str], Person], str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    issuer, secret = f"http://127.0.0.1:{port}", folder / "secret"
    await trio.Path(secret).write_text(SECRET, "utf-8")
    settings = {
        "ISSUER": issuer,
        "CLIENT_ID": "sanderling",
        "CLIENT_SECRET_FILE": str(secret),
        "SCOPES": "openid,profile,email,groups",
        "OWNER_GROUPS": "keepers",
        "NAME": "Harbour",
        "NETWORKS": "127.0.0.0/8",
    }
    async with (
        a_service(folder, **{f"SANDERLING_OIDC_{name}": value for name, value in settings.items()}) as service,
        an_issuer(command, port, f"{service.url}/sign-in/oidc/callback"),
    ):
        yield (lambda name: Person(name, service)), issuer


@ISSUERS
async def test_a_person_of_a_real_issuer_signs_in_and_out(tmp_path: Path, command: Callable[[], Sequence[str]]) -> None:
    ready = await trio.to_thread.run_sync(command)
    async with a_harbour(tmp_path, ready) as (person, issuer):
        ada = person("ada")
        async with ada.client:
            await ada.open("/sign-in/oidc?next=/keys")
            assert ada.is_ours and ada.answer.url.path == "/keys" and ada.answer.status_code == 200, ada.service.log[
                -5:
            ]
            token = html.document_fromstring(ada.answer.text).xpath("//input[@name='token']/@value")[0]
            left = await ada.client.post(
                f"{ada.service.url}/sign-out", data={"token": token}, headers={"Origin": ada.service.url}
            )
            assert left.status_code == 303 and left.headers["Location"] == "/sign-in?out=1"
            await ada.open("/sign-in?out=1")
            assert "Sign out at Harbour too" in ada.text
            out = await ada.client.get(f"{ada.service.url}/sign-in/oidc/leave")
            assert urlsplit(out.headers["Location"])._replace(path="", query="").geturl() == issuer
            await ada.open("/sign-in/oidc/leave")
            assert ada.answer.status_code == 200, ada.text


@ISSUERS
async def test_a_person_without_a_group_is_refused(tmp_path: Path, command: Callable[[], Sequence[str]]) -> None:
    ready = await trio.to_thread.run_sync(command)
    async with a_harbour(tmp_path, ready) as (person, _):
        bo = person("bo")
        async with bo.client:
            await bo.open("/sign-in/oidc")
            assert bo.is_ours and bo.answer.status_code == 403
            assert "Your account at Harbour has no access to this service." in bo.text
            await bo.open("/keys")
            assert bo.answer.url.path == "/sign-in"
