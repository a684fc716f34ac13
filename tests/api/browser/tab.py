"""One browser tab: the actions of a user, and the problems that fail a test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Locator, Request

from tests.support.waiting import HANG

REFUSED_FORM = re.compile(r"Failed to load resource: the server responded with a status of (404|422) ")


class Tab:
    """`problems`: console complaints, dialogs, and requests to other origins."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        context.set_default_timeout(1000 * HANG)
        self.url, self.context, self.page = url, context, context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("request", self._left)

    def open(self, path: str) -> Tab:
        self.page.goto(self.url + path, wait_until="load")
        return self

    def press(self, name: str | re.Pattern[str]) -> Tab:
        """Press a button, and wait until a new page has loaded."""
        self.page.get_by_role("button", name=name, exact=True).first.click()
        return self._whole()

    def follow(self, name: str) -> Tab:
        """Follow a link in the page's main part."""
        self.page.locator("main").get_by_role("link", name=name, exact=True).first.click()
        return self._whole()

    def fill(self, **fields: str) -> Tab:
        for name, text in fields.items():
            self.page.locator(f"main [name={name}]").first.fill(text)
        return self

    def sees(self, text: str | re.Pattern[str]) -> Locator:
        """Wait until the page shows a text and has loaded."""
        found = self.page.locator("main").get_by_text(text).first
        found.wait_for()
        self._whole()
        return found

    def unfold(self, summary: str) -> Tab:
        self.page.locator("summary", has_text=summary).first.click()
        return self

    @property
    def text(self) -> str:
        return " ".join(self.page.locator("main").inner_text().split())

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.url)

    def run(self, expression: str) -> Any:
        """Evaluate an expression in the page, through the debugger to bypass the page's policy."""
        with self.debugging() as send:
            asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
            answer = send("Runtime.evaluate", asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    @contextmanager
    def debugging(self) -> Iterator[Any]:
        session = self.context.new_cdp_session(self.page)
        try:
            yield session.send
        finally:
            session.detach()

    def _whole(self) -> Tab:
        # A click returns when the next page starts, and a text can show while its page still loads.
        self.page.wait_for_load_state("domcontentloaded")
        return self

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not REFUSED_FORM.match(message.text):
            self.problems.append(f"{message.type}: {message.text} ({self.page.url})")

    def _asked(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _left(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((f"{self.url}/", "data:")):
            self.problems.append(f"request to {request.url}")
