"""The browser of a simulated machine: it fetches a page over that machine's network, and plays its scripts.

The network knows the scripts' output by the page's address (`SimNetwork.scripts`). The browser's own troubles are
faults of the service's machine: it dies, hangs until the deadline, or is not installed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import trio

from actors.world import Connect, Rendered, RenderFailed, RenderRequest, ResolveFailed
from supervision import Child
from tests.simulation.network import Side, SimNetwork
from tests.simulation.program import BROWSER_FAULTS

DIES, HANGS, MISSING = BROWSER_FAULTS
UNFILLED: Final = "unfilled"
"""A trouble of a host: its pages' scripts get no data."""
_LARGEST: Final = 1 << 20
_PNG: Final = b"\x89PNG\r\n\x1a\n"


class SimBrowser:
    """Shows pages of the simulated network, as one process of the machine."""

    def __init__(self, network: SimNetwork, side: Side) -> None:
        self._network, self._side = network, side

    async def run(self, child: Child, connect: Connect) -> None:
        """Do nothing until stopped: requests go over the machine's network."""
        child.ready()
        await trio.sleep_forever()

    def lacks(self) -> str:
        """Return why no page can be shown."""
        return "the browser was uninstalled" if self._side.host.suffers(MISSING) else ""

    async def render(self, request: RenderRequest) -> Rendered:
        """Show a page. Raises RenderFailed."""
        began = trio.current_time()
        if self._side.host.suffers(HANGS):
            await trio.sleep_forever()
        try:
            with trio.fail_after(request.deadline):
                status, sets, body = await self._ask(request)
                html = await self._filled(request.url, body) if status == 200 else body
        except trio.TooSlowError:
            raise RenderFailed(f"not there after {request.deadline:g} s", blame="remote") from None
        if self._side.host.suffers(DIES):
            raise RenderFailed("the browser died", blame="local")
        elapsed = round(1000 * (trio.current_time() - began))
        picture = picture_showing(html) if request.screenshot else b""
        page = Rendered(request.url, status, html, True, 2, len(body) + len(html), elapsed, screenshot=picture)
        return page._replace(set_cookies=sets if _cookie(request) else ())  # else unread

    async def _filled(self, url: str, body: bytes) -> bytes:
        """Return a page after its scripts; one without any, or with failing scripts, stays as it is."""
        script = self._network.scripts.get(url)
        host = self._network.hosts[urlsplit(url).hostname or ""]
        await trio.sleep(0.3)
        return body if script is None or host.suffers(UNFILLED) else script(body)

    async def _ask(self, request: RenderRequest) -> tuple[int, Sequence[str], bytes]:
        """Return status, cookies and body of a GET. Raises RenderFailed."""
        parts = urlsplit(request.url)
        try:
            (address, *_) = await self._side.resolve(parts.hostname or "")
            if not self._network.is_public(address):
                raise RenderFailed(f"{address} is no public address", blame="refused")
            stream = await self._side.connect(address, 443 if parts.scheme == "https" else 80)
            try:
                given = f"cookie: {cookie}\r\n" if (cookie := _cookie(request)) else ""
                head = f"GET {parts.path or '/'} HTTP/1.1\r\nhost: {parts.hostname}\r\nconnection: close\r\n{given}\r\n"
                await stream.send_all(head.encode())
                return _read(await _everything(stream))
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                    await stream.aclose()
        except ResolveFailed as error:
            raise RenderFailed(error.reason, blame="local" if error.local else "remote") from None
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise RenderFailed(f"no answer: {error}", blame="remote") from None


def picture_showing(html: bytes) -> bytes:
    """Return a picture of a page: the head of a PNG, and the page itself in a chunk of text."""
    head = b"\0\0\0\rIHDR" + (800).to_bytes(4) + (600).to_bytes(4) + b"\x08\x02\0\0\0" + bytes(4)
    text = zlib.compress(html)
    return b"".join((_PNG, head, len(text).to_bytes(4), b"zTXt", text, bytes(4), b"\0\0\0\0IEND\xaeB`\x82"))


def shown_in(picture: bytes) -> str:
    """Return the page in a picture."""
    begins = picture.index(b"zTXt") + 4
    length = int.from_bytes(picture[begins - 8 : begins - 4])
    return zlib.decompress(picture[begins : begins + length]).decode()


async def _everything(stream: trio.abc.Stream) -> bytes:
    received = b""
    while len(received) < _LARGEST:
        piece = await stream.receive_some(65_536)
        if not piece:
            break
        received += piece
    return received


def _cookie(request: RenderRequest) -> str:
    return next((value for name, value in request.headers if name.lower() == "cookie"), "")


def _read(received: bytes) -> tuple[int, Sequence[str], bytes]:
    head, end, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    sets = [line.partition(":")[2].strip() for line in lines if line.startswith("set-cookie:")]
    length = next((int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")), len(body))
    if not end or len(body) < length:
        raise RenderFailed("the answer was cut off", blame="remote", set_cookies=sets)
    return int(first.split(" ")[1]), sets, body
