"""A fetched page as blocks to choose from, read in a worker."""

from __future__ import annotations

import msgspec

from actors.content.messages.picking import PickRequest
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.picks import PickPage, PickWish
from actors.sources.detection.classify import refused
from actors.sources.looks.reading import in_jail, page_patience
from actors.sources.ports import Ports

_LARGE = 2
"""Factor compared with a check: the whole page is read, and the chosen part again."""


async def pick_of(ports: Ports, fetched: FetchedResponse, wish: PickWish) -> PickPage:
    """Return the blocks of a page. Raises Unprocessable: empty, a wall, too large to choose from."""
    request = msgspec.msgpack.encode(PickRequest(fetched.body, fetched.content_type, fetched.url, wish))
    times = _LARGE if wish.past is None else _LARGE + 1  # earlier versions are tried too
    deadline = times * page_patience(ports.settings.parse_deadline, fetched.body)
    try:
        answer = await in_jail(ports.world.jail, "pick", request, deadline=deadline)
    except LookFailed as failure:
        if isinstance(failure, ReadingStopped) and failure.too_slow:
            raise Unprocessable("this page is too large to choose from: write a selector", "body.url") from None
        raise refused(failure, fetched.url) from None
    page = msgspec.msgpack.decode(answer, type=PickPage)
    if page.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {page.trouble}", "body.url", fetched.url)
    return page
