"""The real browser for the settings: on this machine, or at an address.

Connections to a remote browser bypass the guard: it protects against addresses chosen by strangers, and the operator
chose this one.

The doctor's check of the browser: it starts, and its walls hold.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache, partial
from pathlib import Path
from socket import gaierror
from typing import Final, NoReturn

import trio

from actors.errors import UrlRefused
from actors.settings import Settings
from actors.world import RenderFailed, RenderRequest
from extras.browser.holder import Walls
from extras.browser.pool import ChromiumPool, walls_in_words
from extras.browser.remote import SCHEMES, Listen, RemoteBrowser, is_remote, read_remote
from extras.browser.settings import BrowserSettings
from sanderling.environment import environ
from sanderling.operations.findings import DoctorContext, Finding
from sanderling.program import OFF, SOCKET, FoundBrowser, find_browser, own_process, worker_environment
from sanderling.real_world import chance, entropy, open_datagrams, open_listeners, trust_of


def real_browser(settings: Settings, log: Callable[..., None] = lambda *_, **__: None) -> ChromiumPool:
    """Return the browser port, even without a browser; it then reports the missing parts."""
    ours = settings.of(BrowserSettings)
    path, absent = named_browser(ours.browser)
    elsewhere = is_remote(path)
    return ChromiumPool(
        holder_command(path) if path and not elsewhere else (),
        absent=absent,
        remote=browser_elsewhere(ours, trust_of(settings), open_listeners, entropy) if elsewhere else None,
        environment=worker_environment(environ()),
        pages=ours.browser_pages or 3 * (os.cpu_count() or 1),
        sandbox="wanted" if ours.browser_sandbox == "wanted" else "demanded",
        ports=ours.ports(),
        most_html=settings.body_limit,
        listen=open_listeners,
        datagrams=open_datagrams,
        entropy=entropy,
        draw=chance().random,
        log=log,
    )


def named_browser(setting: str) -> FoundBrowser:
    if not is_remote(setting):
        return find_browser(setting)
    try:
        read_remote(setting)
    except ValueError as error:  # never quote the setting: it may contain a token
        return FoundBrowser("", f"the setting browser has an address that can't be used: {error}")
    return FoundBrowser(setting, "")


def holder_command(browser: str) -> Sequence[str]:
    """Return the command line that starts a browser holder, or just the socket if another unit starts the holder."""
    return [browser] if browser.startswith(SOCKET) else [*own_process("browser-holder"), browser]


def browser_elsewhere(
    settings: BrowserSettings, trust: Callable[[], ssl.SSLContext], listen: Listen, entropy: Callable[[int], bytes]
) -> RemoteBrowser:
    """trust: makes the TLS context for connections to the browser."""
    trusted = cache(trust)

    async def dial(host: str, port: int, tls: bool) -> trio.abc.Stream:
        stream = await _connected(host, port)
        return await _secured(stream, host, trusted()) if tls else stream

    return RemoteBrowser(
        read_remote(settings.browser),
        dial=dial,
        listen=listen,
        entropy=entropy,
        listen_at=settings.gate(),
        reached_at=settings.browser_proxy_address,
    )


async def _connected(host: str, port: int) -> trio.abc.Stream:
    """Open a TCP connection. Raises OSError with the reason of the last attempt."""
    try:
        return await trio.open_tcp_stream(host, port)
    except OSError as error:
        cause = error.__cause__
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[-1]
        found = cause if isinstance(cause, OSError) else error
        if found.errno is None or isinstance(found, gaierror):
            raise found from None
        raise OSError(found.errno, os.strerror(found.errno)) from None  # Trio's message contains a tuple


async def _secured(stream: trio.abc.Stream, host: str, trust: ssl.SSLContext) -> trio.abc.Stream:
    secured = trio.SSLStream(stream, trust, server_hostname=host, https_compatible=True)
    try:
        await secured.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        raise ConnectionError(f"TLS failed: {error.__cause__ or error}") from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secured


UNIT: Final = Path("/etc/systemd/system/sanderling.service")
PAGE: Final = "docs/rendered-pages.md"
TIGHT: Final = ("MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes")
"""Settings of a unit that no browser can run under."""
WITHIN: Final = 30.0


async def browser(patient: DoctorContext) -> AsyncIterator[Finding]:
    pool = real_browser(patient.settings)
    if pool.lacks():  # a browser is optional
        yield Finding("ok", "browser", f"pages are not rendered: {pool.lacks()}")
        return
    if trouble := await _tried(pool):
        yield Finding("warn", "browser", f"pages are not rendered: {trouble}", f"{PAGE}; or browser = {OFF}.")
        return
    yield held(pool.statistics().name, pool.walls)
    if not patient.settings.of(BrowserSettings).browser.startswith((SOCKET, *SCHEMES)) and (tight := walls_of(_unit())):
        yield from_unit(tight)


def held(name: str, walls: Walls | None) -> Finding:
    says = f"{name} renders pages, held by {walls_in_words(walls)}"
    if walls is not None and (walls.sandbox or walls.remote):
        return Finding("ok", "browser", says)
    do = f"{PAGE} says what its sandbox needs; browser_sandbox = demanded renders nothing without."
    return Finding("warn", "browser", says, do)


def from_unit(tight: tuple[str, ...]) -> Finding:
    do = f"`sudo sanderling install --browser` gives it a unit of its own ({PAGE}); or browser = {OFF}."
    return Finding("warn", "browser", f"{UNIT} restricts the service too much for a browser: {', '.join(tight)}", do)


def walls_of(unit: str) -> tuple[str, ...]:
    """Return the restrictions in a unit that no browser can run under.

    >>> walls_of("[Service]\\nMemoryDenyWriteExecute=yes\\n")
    ('MemoryDenyWriteExecute=yes',)
    """
    lines = {line.strip() for line in unit.splitlines()}
    return tuple(wall for wall in TIGHT if wall in lines)


def _unit() -> str:
    return UNIT.read_text("utf-8", "replace") if UNIT.is_file() else ""


class _Patient:
    """Replaces a child of the tree."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None:
        """Needs no signal."""


async def _nowhere(host: str, port: int, judge: object) -> NoReturn:
    raise UrlRefused("doctor", "the doctor lets no page out")


async def _tried(pool: ChromiumPool) -> str:
    """Start the browser, let it check its sandbox, and request a page that is refused. Returns the problem, or ""."""
    patient, says = _Patient(), "it did not start in time"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(pool.run, patient, connect=_nowhere))
        with trio.move_on_after(WITHIN):
            try:
                await pool.render(RenderRequest("http://doctor.invalid/", ""))
                says = "a page came from nowhere"
            except RenderFailed as failure:
                says = "" if failure.blame == "refused" else failure.reason
        patient.stopping.set()
    return says
