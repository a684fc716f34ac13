"""From the set-up link to a delivered webhook: a browser without JavaScript, and a service in its own process."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
import trio
from lxml import html

from tests.e2e.service import a_service, run_command
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


class Reader:
    """Opens pages and presses buttons, as a person does."""

    def __init__(self, url: str) -> None:
        self.client = httpx.AsyncClient(base_url=url, follow_redirects=True, timeout=HANG, headers={"Origin": url})

    async def open(self, path: str) -> str:
        return self._read(await self.client.get(path))

    async def press(self, action: str, **fields: str) -> str:
        form = next(form for form in self.page.forms if form.get("action") == action)
        return self._read(await self.client.post(action, data={**dict(form.form_values()), **fields}))

    def _read(self, answer: httpx.Response) -> str:
        assert answer.status_code == 200, answer.text
        self.path, self.page = answer.url.path, html.document_fromstring(answer.text)
        return " ".join(self.page.text_content().split())


async def test_the_first_five_minutes(tmp_path: Path) -> None:
    async with a_service(tmp_path) as service:
        link = (await run_command("setup-link", "--data", str(tmp_path))).stdout.decode()
        found = re.search(r"/set-up\S+", link)
        assert found is not None, link
        reader = Reader(service.url)
        async with reader.client:
            await reader.open(found[0])
            password = {
                str(name): "a long walk on the beach" for name in reader.page.xpath("//input[@type='password']/@name")
            }
            assert "Paste any URL" in await reader.press("/set-up", code=link.strip(), **password)
            said = await reader.press("/first-steps/change", what="page")
            with trio.fail_after(HANG):
                while "✓ verified" not in said:  # on a slow machine the service answers before the event
                    said = await reader.open("/first-steps")
            assert "− removed: Single, adult: 18.00 euro" in said and "+ added: Single, adult: 21.70 euro" in said
            assert "✓ verified signed with key" in said
            assert "Why it was reported: The change scored" in said
            said = await reader.press("/first-steps/wire")
            assert reader.path.startswith("/webhook-bins/")
            assert said.count("verified") == 2, said
            said = await reader.open("/first-steps")
            assert "1 alert matches it now: “Practice”." in said
            assert "Practice ended" in await reader.press("/first-steps/end")
            assert (await reader.open("/sources")).count("practice") == 0
