"""One running browser: page views share its line, each has a separate door, and a hung browser is detected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import trio

from actors.egress.url import parse_url
from actors.world import FilledBy, Rendered, RenderFailed, RenderRequest
from extras.browser.forward_proxy import ForwardProxy
from extras.browser.leases import Lease
from extras.browser.page_view import HIDDEN, PageView, context_behind
from extras.browser.wire import BadMessage, BrowserMessage, BrowserTransport, Command, packed, read

HUNG_AFTER: Final = 1.6  # seconds of silence after a call; with detection and replacement that makes two
CALLS: Final = 4
"""Calls in that time. All must go unanswered, so that a pause of our own does not count as the browser's."""
CLOSED_WITHIN: Final = 10.0
"""Seconds for a responsive browser to close a page. On a busy machine a tab takes time to end."""
BACKLOG: Final = 4096  # messages about one page that may wait; a page that causes more is ended
BROKE: Final = "the line to it broke"
NO_SESSION: Final = "-"  # the session of a page view that has none yet: no message has it
ATTACHED: Final = "Target.attachedToTarget"
_HOLDING: Final = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]}
_NO_HOLDING: Final = Command(
    "Target.setAutoAttach", {"autoAttach": False, "waitForDebuggerOnStart": False, "flatten": True}
)
_HELLO: Final = (Command("Browser.getVersion", tag="version"), Command("Target.setDiscoverTargets", {"discover": True}))
_TRIED: Final = (
    Command("Target.setAutoAttach", _HOLDING),
    Command("Target.createTarget", {"url": "about:blank", **HIDDEN}, tag="tried"),
)
_AGENT_WITHIN: Final = 20.0
EVALUATED_WITHIN: Final = 10.0


class Engine:
    """A running browser. `over` is set once it is unusable, with the reason in `why`; `worn`: it gets no more pages.
    looks: page views so far. busy: those under way. agent: its own User-Agent. name: its product, such as
    `HeadlessChrome/156.0.1`. hidden: whether tabs without a picture are hidden.
    """

    def __init__(self, line: BrowserTransport, proxy: ForwardProxy, most_html: int) -> None:
        self._line, self._proxy, self._most_html = line, proxy, most_html
        self._number = 0
        self._waiting: dict[int, tuple[_Desk, str]] = {}
        """Recipients of answers to commands. Bound: pending commands; a closing desk removes its own."""
        self._desks: set[_Desk] = set()
        self._sending = trio.Lock()
        self._heard = 0
        self._freed = trio.Event()
        self.looks = self.busy = 0
        self.hidden, self._held_back = True, False
        self.agent = self.name = self.why = ""
        self.worn, self.over = trio.Event(), trio.Event()

    def __repr__(self) -> str:
        over = ", over" if self.over.is_set() else ""
        return f"<Engine {self.name}, {self.looks} looks, {self.busy} under way{over}>"

    async def wait_free(self) -> None:
        while self.busy:
            await self._freed.wait()

    async def run(self, up: Callable[[], None]) -> None:
        """Serve the line and the proxy until the browser is over. up: called when it accepts commands."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear)
                nursery.start_soon(self._call)
                nursery.start_soon(self._line.doors.run, self._proxy)
                await self._greet()
                if not self.over.is_set():
                    up()
                await self.over.wait()
                nursery.cancel_scope.cancel()
        finally:
            self.end("")
            for desk in self._desks:
                desk.close()

    def end(self, why: str) -> None:
        if not self.over.is_set():
            self.why = why
            self.over.set()

    async def _greet(self) -> None:
        """Learn its version, and whether it holds a new tab back until released. A shell does. A whole browser does not
        for hidden tabs, so it is then not asked to. Nor is a shared browser, as that would hold other users' tabs back.
        """
        desk, tag = self._desk(), ""
        desk.context, shared = None, self._line.shared
        with trio.move_on_after(_AGENT_WITHIN), suppress(trio.EndOfChannel):
            await self._send(_HELLO if shared else (*_HELLO, *_TRIED), desk)
            while tag != ("version" if shared else "tried"):
                message, tag = await desk.take()
                if tag == "version":
                    self.agent, self.name = (str(message.params.get(key, "")) for key in ("userAgent", "product"))
                self._held_back |= message.method == ATTACHED and message.params.get("waitingForDebugger") is True
            if not shared:
                tried = Command("Target.closeTarget", {"targetId": str(message.params.get("targetId", ""))})
                await self._send([tried] if self._held_back else [tried, _NO_HOLDING], desk)
        self._leave(desk)
        if not self.name:
            self.end("it did not identify itself")

    async def look(self, request: RenderRequest, marker: str, *, ports: Iterable[int] = (), most: int = -1) -> Rendered:
        """Show a page. most: the proxy's limit on requests. Raises RenderFailed. A cancelled page is closed."""
        lease = Lease(
            most_requests=request.most_requests if most < 0 else most,
            most_bytes=request.most_bytes,
            marker=marker,
            ports=[*ports],
            host=parse_url(request.url, schemes=("http", "https")).host,
        )
        self.looks += 1
        self.busy += 1
        desk, began = self._desk(), trio.current_time()
        try:
            with self._line.doors.let(lease) as door:
                look = PageView(
                    request,
                    now=began,
                    door=door,
                    agent=self.agent,
                    marker=marker,
                    trouble=lease.trouble,
                    most_html=self._most_html,
                    hidden=self.hidden,
                    held_back=self._held_back,
                )
                try:
                    await self._see(look, desk)
                finally:
                    await self._close(look, desk)
            return _outcome(look, lease.wire_bytes, trio.current_time() - began)
        finally:
            self._leave(desk)
            self.busy -= 1
            self._freed.set()
            self._freed = trio.Event()

    async def _see(self, look: PageView, desk: _Desk) -> None:
        await self._send(look.begin(), desk)
        while not look.over:
            commands: Sequence[Command] = ()
            with trio.move_on_at(look.due):
                try:
                    message, tag = await desk.take()
                except trio.EndOfChannel:
                    look.fail(f"the browser ended: {self.why}", "local")
                    return
                commands = self._taken(look, message, tag)
                desk.context, desk.session = look.context, look.session or NO_SESSION
            if trio.current_time() >= look.due:
                commands = [*commands, *look.tick(trio.current_time())]
            if desk.flooded:
                look.fail(f"the page did too much at once: {BACKLOG:,} messages of the browser waited", "remote")
            await self._send(commands, desk)

    def _taken(self, look: PageView, message: BrowserMessage, tag: str) -> Sequence[Command]:
        """Pass a message to a page view; return the commands to send. A browser with invalid answers is unusable."""
        try:
            return look.take(message, tag, trio.current_time())
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            self.end(f"it sent an unknown message: {error!r}"[:200])
            look.fail(f"the browser ended: {self.why}", "local")
            return ()

    async def evaluated(self, script: str) -> Any:
        """Return the result of a script in an empty tab without a way out. Raises RenderFailed."""
        desk, context = self._desk(), ""
        lease = Lease(most_requests=0, most_bytes=0, marker="")
        tab: dict[str, Any] = {"url": "about:blank", **(HIDDEN if self.hidden else {})}
        told = {"expression": script, "awaitPromise": True, "returnByValue": True}
        try:
            with trio.fail_after(EVALUATED_WITHIN), self._line.doors.let(lease) as door:
                context = desk.context = (await self._answer(desk, context_behind(door)))["browserContextId"]
                opened = await self._answer(desk, Command("Target.createTarget", tab | {"browserContextId": context}))
                to = {"targetId": opened["targetId"], "flatten": True}
                session = (await self._answer(desk, Command("Target.attachToTarget", to)))["sessionId"]
                found = await self._answer(desk, Command("Runtime.evaluate", told, session))
                await self._send([Command("Target.closeTarget", {"targetId": opened["targetId"]})], desk)
                return found["result"].get("value")
        except (LookupError, TypeError, AttributeError) as error:
            raise RenderFailed(f"it sent an unknown message: {error!r}"[:200], blame="local") from None
        except (trio.TooSlowError, trio.EndOfChannel):
            raise RenderFailed(self.why or f"it did not answer within {EVALUATED_WITHIN:g} s", blame="local") from None
        finally:
            with trio.move_on_after(HUNG_AFTER, shield=True):
                if context:
                    await self._send([Command("Target.disposeBrowserContext", {"browserContextId": context})], desk)
            self._leave(desk)

    async def _answer(self, desk: _Desk, command: Command) -> Mapping[str, Any]:
        await self._send([command._replace(tag="asked")], desk)
        while True:
            message, tag = await desk.take()
            if message.method == ATTACHED:  # it is held back
                go = Command("Runtime.runIfWaitingForDebugger", {}, str(message.params["sessionId"]))
                await self._send([go], desk)
            if tag and message.failed:
                raise RenderFailed(f"{command.method}: {message.failed}", blame="local")
            if tag:
                return message.params

    async def _close(self, look: PageView, desk: _Desk) -> None:
        """Dispose of a page view's context. A browser that fails to is unusable; a hung one is detected before."""
        with trio.move_on_after(CLOSED_WITHIN, shield=True) as scope:
            try:
                while "context" in desk.owed:  # it was cancelled before it had one
                    self._taken(look, *await desk.take())
                await self._send(look.end(), desk)
                while "disposed" in desk.owed:
                    await desk.take()
            except trio.EndOfChannel:
                pass  # the browser is over, with all its pages
        if scope.cancelled_caught:
            self.end(f"it did not close a page within {CLOSED_WITHIN:g} s")

    # --- the line ----------------------------------------------------------------------------------------------------

    def _desk(self) -> _Desk:
        desk = _Desk()
        self._desks.add(desk)
        return desk

    def _leave(self, desk: _Desk) -> None:
        self._desks.discard(desk)
        self._waiting = {number: whose for number, whose in self._waiting.items() if whose[0] is not desk}
        desk.close()

    async def _send(self, commands: Iterable[Command], desk: _Desk | None) -> None:
        texts = []
        for command in commands:
            self._number += 1
            if command.tag and desk is not None:
                self._waiting[self._number] = desk, command.tag
                desk.owed.add(command.tag)
            texts.append(packed(self._number, command))
        if texts and not self.over.is_set():
            await self._write(texts)

    async def _write(self, texts: Sequence[bytes]) -> None:
        """Write whole commands: a partial one would absorb the next."""
        with trio.move_on_after(HUNG_AFTER, shield=True) as scope:
            try:
                async with self._sending:
                    await self._line.send(texts)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self.end(BROKE)
        if scope.cancelled_caught:
            self.end(f"it took no command for {HUNG_AFTER:g} s")

    async def _hear(self) -> None:
        try:
            while (texts := await self._line.receive()) is not None:
                self._heard += 1
                for text in texts:
                    self._hand_out(read(text))
            self.end(await self._line.last_word() or "it hung up")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.end(BROKE)
        except (BadMessage, TypeError, AttributeError) as error:
            self.end(f"it sent an unknown message: {error}"[:300])

    def _hand_out(self, message: BrowserMessage) -> None:
        if message.number:
            desk, tag = self._waiting.pop(message.number, (None, ""))
            if desk is not None:
                desk.put(message, tag)
            return
        context = message.params.get("targetInfo", {}).get("browserContextId") if not message.session else None
        for desk in self._desks:
            if desk.session == message.session if message.session else desk.hears(context):
                desk.put(message, "")

    async def _call(self) -> None:
        """Call the browser while pages are under way; one that is silent for too long is hung."""
        silent, heard = 0, -1
        while True:
            await trio.sleep(HUNG_AFTER / CALLS)
            silent = silent + 1 if self.busy and self._heard == heard else 0
            heard = self._heard
            if silent >= CALLS:
                self.end(f"it did not answer for {HUNG_AFTER:g} s")
                return
            if self.busy:
                await self._send([Command("Browser.getVersion")], None)


def _outcome(look: PageView, wire_bytes: int, elapsed: float) -> Rendered:
    if look.failure is not None:
        reason, blame, status = look.failure
        raise RenderFailed(reason, blame=blame, status=status, set_cookies=look.set_cookies)
    return Rendered(
        url=look.at,
        status=look.status or 0,
        html=(look.html or "").encode("utf-8", "replace"),
        settled=look.settled,
        requests=look.requests,
        wire_bytes=wire_bytes,
        elapsed_ms=round(1000 * elapsed),
        screenshot=look.screenshot,
        filled_by=tuple(FilledBy(url, size) for url, size in look.filled()),
        set_cookies=tuple(look.set_cookies),
    )


class _Desk:
    """The queue of messages for one page view. Bound: `BACKLOG`; further ones are lost, and the page view fails."""

    def __init__(self) -> None:
        self._put, self._taken = trio.open_memory_channel[tuple[BrowserMessage, str]](BACKLOG)
        self.context: str | None = ""
        """The context whose messages it gets; None: all."""
        self.session = NO_SESSION
        self.owed: set[str] = set()
        """The tags of answers that have not been taken."""
        self.flooded = False

    def hears(self, context: str | None) -> bool:
        """Return whether messages about a context are for this desk; None: about no context."""
        return self.context is None or context in (self.context, None)

    def put(self, message: BrowserMessage, tag: str) -> None:
        try:
            self._put.send_nowait((message, tag))
        except trio.WouldBlock:
            self.flooded = True
        except trio.BrokenResourceError:
            pass  # the desk is closed

    async def take(self) -> tuple[BrowserMessage, str]:
        """Return the next message. Raises EndOfChannel at the end."""
        message, tag = await self._taken.receive()
        self.owed.discard(tag)
        return message, tag

    def close(self) -> None:
        self._put.close()
