"""A browser by script: what it shows of an address, or how it fails; and what it was asked."""

from __future__ import annotations

import trio

from actors.world import Connect, FilledBy, Rendered, RenderFailed, RenderRequest
from supervision import Child

Shows = bytes | Rendered | RenderFailed


def rendered(html: bytes, url: str = "", *, status: int = 200, filled_by: tuple[FilledBy, ...] = ()) -> Rendered:
    """Return a page as a browser shows it; "" is the address that was asked for."""
    return Rendered(url, status, html, True, 12, 90_000, 800, filled_by=filled_by)


class ScriptedBrowser:
    """Shows what `pages` says of an address; `missing` says why it can't show any. `takes`: seconds of a page."""

    def __init__(self) -> None:
        self.pages: dict[str, Shows] = {}
        self.asked: list[RenderRequest] = []
        self.missing = ""
        self.takes = 0.5

    async def run(self, child: Child, connect: Connect) -> None:
        """Do nothing until stopped."""
        await trio.sleep_forever()

    async def render(self, request: RenderRequest) -> Rendered:
        """Show a page by script."""
        self.asked.append(request)
        await trio.sleep(self.takes)
        shows = self.pages[request.url]
        if isinstance(shows, RenderFailed):
            raise shows
        page = rendered(shows) if isinstance(shows, bytes) else shows
        return page._replace(url=page.url or request.url)

    def lacks(self) -> str:
        """Return what is missing."""
        return self.missing
