"""The demo's origin on loopback: a feed that grows, a page that changes, a WebSocket that sends frames.

It replays real feeds and pages step by step if the shared test material is next to the project, else built-in material.
The demo and the tests watch it.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from lxml import etree
from quart import Response, request, websocket
from quart_trio import QuartTrio

SHARED = Path(__file__).parents[3] / "shared" / "data"
REAL_FEED = "033-images-livemint-com.xml"
REAL_PAGE = "gov-uk-075/"
AT_FIRST = 3
"""Entries of the feed at the start."""


@dataclass(frozen=True, slots=True)
class Material:
    """The origin's content: a whole feed, a page's versions in order, frames in order, and their provenance."""

    feed: bytes
    pages: Sequence[bytes]
    frames: Sequence[str]
    whose: str


def own_material() -> Material:
    """Return the built-in material."""
    folder = files("sanderling.walkthrough.material")
    pages = [folder.joinpath(f"harbour-{n}.html").read_bytes() for n in range(1, 7)]
    return Material(folder.joinpath("notes.xml").read_bytes(), pages, _frames(), "of our own")


def real_material(shared: Path = SHARED) -> Material | None:
    """Return a real feed and a real page's history; None without the shared folder."""
    feeds, pages = shared / "feeds" / "feeds.tar.xz", shared / "pages" / "pages.tar.xz"
    if not (feeds.is_file() and pages.is_file()):
        return None
    with tarfile.open(feeds, "r|xz") as archive:
        feed = _members(archive, REAL_FEED)
    with tarfile.open(pages, "r|xz") as archive:
        versions = _members(archive, REAL_PAGE)
    if not feed or not versions:
        return None
    return Material(feed[0], versions, _frames(), f"real: {REAL_FEED} and {REAL_PAGE.rstrip('/')}")


class DemoOrigin:
    """The origin. Each resource advances one step per `pace` seconds after its first request."""

    def __init__(self, material: Material, pace: float) -> None:
        self.material = material
        self._pace = pace
        self._begun: dict[str, float] = {}
        self.app = QuartTrio("origin", static_folder=None)
        self.app.add_url_rule("/feed", view_func=self._feed)
        self.app.add_url_rule("/page", view_func=self._page)
        self.app.add_websocket("/socket", view_func=self._socket)

    def step(self, what: str) -> int:
        """Return how many steps a resource has advanced."""
        now = trio.current_time()
        return int((now - self._begun.setdefault(what, now)) / self._pace)

    async def serve(self, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve on a free port of 127.0.0.1; starts with its address, such as `127.0.0.1:41234`."""
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        config = Config()
        config.bind = [f"fd://{listener.socket.detach()}"]
        config.errorlog = None
        task_status.started(f"127.0.0.1:{port}")
        await serve(self.app, config, shutdown_trigger=trio.sleep_forever)

    async def _feed(self) -> Response:
        return _conditional(feed_with(self.material.feed, AT_FIRST + self.step("feed")), "text/xml")

    async def _page(self) -> Response:
        versions = self.material.pages
        return _conditional(versions[min(self.step("page"), len(versions) - 1)], "text/html")

    async def _socket(self) -> None:
        for frame in self.material.frames:
            await websocket.send(frame)
            await trio.sleep(self._pace)
        await trio.sleep_forever()


def feed_with(document: bytes, entries: int) -> bytes:
    """Return a feed with only its oldest entries (feeds list the newest first)."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(document, parser)
    found = root.findall(".//{*}item") or root.findall(".//{*}entry")
    for entry in found[: max(0, len(found) - entries)]:
        parent = entry.getparent()
        assert parent is not None
        parent.remove(entry)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


def _conditional(body: bytes, media: str) -> Response:
    etag = hashlib.sha256(body).hexdigest()[:16]
    response = Response(body, content_type=media)
    response.set_etag(etag)
    if etag in request.if_none_match:
        response = Response(b"", 304)
        response.set_etag(etag)
    return response


def _frames() -> Sequence[str]:
    return files("sanderling.walkthrough.material").joinpath("frames.jsonl").read_text("utf-8").splitlines()


def _members(archive: tarfile.TarFile, prefix: str) -> list[bytes]:
    """Return the files with this prefix, in order, reading no further than needed: the archive is large."""
    found: list[bytes] = []
    for member in archive:
        if member.name.startswith(prefix):
            content = archive.extractfile(member)
            assert content is not None
            found.append(content.read())
        elif found:
            break
    return found
