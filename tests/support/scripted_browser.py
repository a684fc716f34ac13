"""A scripted browser: it shows set pages or fails, and records the requests."""

from __future__ import annotations

import trio

from actors.world import Connect, FilledBy, Rendered, RenderFailed, RenderRequest
from supervision import Child

Shows = bytes | Rendered | RenderFailed


def rendered(html: bytes, url: str = "", *, status: int = 200, filled_by: tuple[FilledBy, ...] = ()) -> Rendered:
    """Return a page as a browser shows it; "" means the requested address."""
    return Rendered(url, status, html, True, 12, 90_000, 800, filled_by=filled_by)


class ScriptedBrowser:
    """pages: by address. missing: the reason why it cannot show any. takes: seconds for a page."""

    def __init__(self) -> None:
        self.pages: dict[str, Shows] = {}
        self.asked: list[RenderRequest] = []
        self.missing = ""
        self.takes = 0.5

    async def run(self, child: Child, connect: Connect) -> None:
        await trio.sleep_forever()

    async def render(self, request: RenderRequest) -> Rendered:
        self.asked.append(request)
        await trio.sleep(self.takes)
        shows = self.pages[request.url]
        if isinstance(shows, RenderFailed):
            raise shows
        page = rendered(shows) if isinstance(shows, bytes) else shows
        return page._replace(url=page.url or request.url)

    def lacks(self) -> str:
        return self.missing
