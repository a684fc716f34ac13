"""A browser without JavaScript: follows redirects, keeps cookies, reads pages, fills in forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

import httpx
from lxml import html
from lxml.html import HtmlElement

from storage.records.access import Password
from tests.api.house import BASE_URL, House
from tests.support.build import NOW
from tests.support.disks import set_password

PASSWORD = "correct horse battery staple"


class Browser:
    """`page` is the last page, `answer` the last answer, before any redirect was followed."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.client = house.stranger(**{"User-Agent": "Browser 1.0", "Connection": "close"})
        self.answer: httpx.Response
        self.page: HtmlElement
        self.path = "/"

    async def get(self, path: str, *, follow: bool = True, **headers: str) -> httpx.Response:
        return await self._went(await self.client.get(path, headers=headers), follow)

    async def post(
        self,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        follow: bool = True,
        token: str | None = None,
        **more: Any,
    ) -> httpx.Response:
        """Send a form as our page would. token: replaces the token of the current page."""
        data = {"token": self.token if token is None else token, **(fields or {})}
        headers = {"Origin": BASE_URL, **more.pop("headers", {})}
        return await self._went(await self.client.post(path, data=data, headers=headers, **more), follow)

    async def submit(
        self, action: str, fields: Mapping[str, Any] | None = None, *, to: str = "", **more: Any
    ) -> httpx.Response:
        """Fill in and send the form with this action on the current page.

        to: the path of a button that sends the form elsewhere.
        """
        form = self.form(action)
        standing: dict[str, Any] = {}
        for name, value in form.form_values():
            standing.setdefault(name, []).append(value)
        standing.update(fields or {})
        token = standing.pop("token")[0]
        return await self.post(to or action, standing, token=token, **more)

    def form(self, action: str) -> Any:
        found = [form for form in self.page.forms if form.get("action") == action]
        assert found, f"no form {action} at {self.path}: {[form.get('action') for form in self.page.forms]}"
        return found[0]

    @property
    def token(self) -> str:
        """The form token of the current page."""
        tokens: Sequence[str] = self.page.xpath("//input[@name='token']/@value")
        return str(tokens[0]) if tokens else ""

    @property
    def text(self) -> str:
        return " ".join(self.page.text_content().split())

    async def _went(self, answer: httpx.Response, follow: bool) -> httpx.Response:
        while follow and answer.status_code == 303:
            answer = await self.client.get(urljoin(str(answer.url), answer.headers["Location"]))
        self.answer, self.path = answer, answer.url.raw_path.decode()
        if answer.headers.get("Content-Type", "").startswith("text/html") and answer.content:
            self.page = html.document_fromstring(answer.text)
        return answer


async def signed_in(house: House) -> Browser:
    """Sign in and open Today."""
    set_password(house.storage.disk, Password(f"hash of {PASSWORD}", NOW))
    browser = Browser(house)
    await browser.get("/sign-in")
    await browser.submit("/sign-in", {"password": PASSWORD})
    assert browser.answer.status_code == 200, browser.text
    return browser
