"""The dashboard of a real service: set-up by a link from another process, sign-in, a key made and used."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from lxml import html

from actors.settings import Settings
from sanderling import keyring
from tests.e2e.service import a_service
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
PASSWORD = "correct horse battery staple"


def token(answer: httpx.Response) -> str:
    return str(html.document_fromstring(answer.text).xpath("//input[@name='token']/@value")[0])


async def test_from_the_set_up_link_to_a_key_that_works(tmp_path: Path) -> None:
    async with a_service(tmp_path) as service:
        link = keyring.set_up_link(Settings(data=str(tmp_path), base_url=service.url))
        origin = {"Origin": service.url}
        async with httpx.AsyncClient(
            base_url=service.url, headers=origin, follow_redirects=True, timeout=HANG
        ) as browser:
            page = await browser.get(link)
            form = {"token": token(page), "code": link.partition("#")[2], "password": PASSWORD, "again": PASSWORD}
            today = await browser.post("/set-up", data=form)
            assert today.url.path == "/" and "<h1>Today</h1>" in today.text
            assert (await browser.get(link)).status_code == 404

            page = await browser.get("/keys/new")
            made = await browser.post("/keys/new", data={"token": token(page), "name": "e2e", "scopes": "stream:read"})
            (key,) = html.document_fromstring(made.text).xpath("//section[@aria-labelledby='secret']//pre/text()")
            out = await browser.post("/sign-out", data={"token": token(made)})
            assert out.url.path == "/sign-in"
            back = await browser.post("/sign-in", data={"token": token(out), "password": PASSWORD})
            assert back.url.path == "/"
        async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": key}, timeout=HANG) as program:
            assert (await program.get("/v1/events")).status_code == 200
        assert key not in "".join(service.log) and PASSWORD not in "".join(service.log)
