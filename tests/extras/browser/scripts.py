"""A scripted browser: its answers to a render, and the commands that the render sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.world import RenderRequest
from extras.browser.leases import Trouble
from extras.browser.page_view import PageView
from extras.browser.wire import BrowserMessage, Command, Door

URL = "https://a.example/page"
DOOR = Door("http://127.0.0.1:4001")
OWN = "Mozilla/5.0 HeadlessChrome/156.0 Safari/537.36"


class Script:
    """A render, the clock, and all commands so far."""

    def __init__(
        self,
        request: RenderRequest | None = None,
        *,
        most_html: int = 1000,
        door: Door = DOOR,
        held_back: bool = False,
        **given: Any,
    ) -> None:
        self.now = 100.0
        self.troubles: dict[tuple[str, int], Trouble] = {}
        wanted = request or RenderRequest(URL, "sanderling/1", **given)
        self.look = PageView(
            wanted,
            now=self.now,
            door=door,
            agent=OWN,
            marker="m1",
            trouble=lambda host, port: self.troubles.get((host, port)),
            most_html=most_html,
            held_back=held_back,
        )
        self.sent: list[Command] = [*self.look.begin()]

    def last(self, method: str) -> Command:
        return [command for command in self.sent if command.method == method][-1]

    def count(self, method: str) -> int:
        return sum(command.method == method for command in self.sent)

    def answer(self, tag: str, failed: str = "", **result: Any) -> list[Command]:
        """Answer the command with this tag."""
        return self._hear(BrowserMessage(1, "", result, self.look.session, failed), tag)

    def say(self, method: str, **params: Any) -> list[Command]:
        """Send an event."""
        return self._hear(BrowserMessage(0, method, params, self.look.session), "")

    def _hear(self, message: BrowserMessage, tag: str) -> list[Command]:
        commands = [*self.look.take(message, tag, self.now)]
        self.sent += commands
        return commands

    def wait(self, seconds: float) -> list[Command]:
        """Let time pass until a tick sends commands or the render ends; return the commands."""
        until = self.now + seconds
        while not self.look.over and self.look.due <= until:
            before = repr(self.look), self.look.due
            self.now = max(self.now, self.look.due)
            if sent := [*self.look.tick(self.now)]:
                self.sent += sent
                return sent
            assert self.look.over or (repr(self.look), self.look.due) != before, f"{before} is due and does nothing"
        if not self.look.over:
            self.now = until
        return []

    def attached(self, session: str = "S", target: str = "T", context: str = "C") -> list[Command]:
        """Report a tab as attached."""
        found = {"targetId": target, "browserContextId": context, "type": "page"}
        return self.say("Target.attachedToTarget", sessionId=session, targetInfo=found, waitingForDebugger=True)

    def opened(self) -> Script:
        """Advance until the tab navigates to the page."""
        self.answer("context", browserContextId="C")
        self.answer("target", targetId="T")
        self.answer("session", sessionId="S")
        self.answer("prepared")
        assert self.sent[-1].method == "Page.navigate"
        return self

    def ask(self, number: str, kind: str = "XHR", url: str = URL, frame: str = "T") -> list[Command]:
        """Make the page request a URL; the request waits for the render's decision."""
        self.say("Network.requestWillBeSent", requestId=number, type=kind, frameId=frame, request={"url": url})
        return self.say("Fetch.requestPaused", requestId=f"i{number}", resourceType=kind, request=self.request(url))

    def request(self, url: str) -> Mapping[str, Any]:
        return {"url": url, "headers": {"Accept": "*/*"}}

    def loaded(self, status: int = 200, **head: Any) -> Script:
        """Advance until the page has loaded."""
        self.ask("d", "Document")
        response = {"url": URL, "status": status, "mimeType": "text/html", "headers": {}, **head}
        self.say("Network.responseReceived", requestId="d", type="Document", frameId="T", response=response)
        self.answer("navigated", frameId="T")
        self.say("Page.frameNavigated", frame={"id": "T", "url": URL})
        self.say("Network.loadingFinished", requestId="d")
        self.say("Page.loadEventFired")
        return self

    def world(self) -> None:
        """Answer the creation of an isolated world."""
        assert self.sent[-1].method == "Page.createIsolatedWorld"
        self.answer("world", executionContextId=7)

    def read(
        self, html: str | None = "<p>x</p>", *, again: bool = False, at: str = URL, size: int | None = None
    ) -> None:
        """Answer a reading of the page."""
        assert self.sent[-1].method == "Runtime.evaluate" and self.sent[-1].params["contextId"] == 7
        value: dict[str, Any] = {"at": at, "again": again, "size": len(html or "") if size is None else size}
        value |= {"height": 900} | ({"html": html} if html is not None else {})
        self.answer("read", result={"value": value})
