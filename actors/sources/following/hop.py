"""One hop: an item's own page, fetched politely and read in the jail, becomes the text of its event."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from actors.content.messages.requests import ItemPage, ListLook, ListRequest, PageRequest
from actors.content.values.kinds import values_of_entry
from actors.egress.failures import Blame, LookFailed
from actors.egress.hosts import Ticket
from actors.egress.http import FetchedResponse
from actors.observer import NO_STEPS, CheckSteps
from actors.sources.following.waiting import Waiting
from actors.sources.looks.access import SHUT_OUT, access_of, asks_password, renewal_of
from actors.sources.looks.fetch import fetch
from actors.sources.looks.reading import in_jail, page_patience, patience
from actors.sources.ports import LiveSource, Ports
from storage.records.event import Draft

_PAGE = "text/html, application/xhtml+xml, */*;q=0.5"
_FILE = "application/xml, text/xml, application/gzip;q=0.9, */*;q=0.5"


async def page_of(ports: Ports, live: LiveSource, one: Waiting, steps: CheckSteps = NO_STEPS) -> Draft:
    """Return the draft of an item with the text of its page. Raises LookFailed, UrlRefused."""
    assert one.draft is not None
    fetched = await _fetched(ports, live, one, _PAGE, steps)
    request = PageRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = page_patience(ports.settings.parse_deadline, fetched.body)
    with steps.step("read"):
        answer = await in_jail(ports.world.jail, "read_item", msgspec.msgpack.encode(request), deadline=deadline)
    page = msgspec.msgpack.decode(answer, type=ItemPage)
    if page.trouble is not None:
        raise LookFailed(Blame.REMOTE_PERMANENT, f"not the page itself: {page.trouble}", status=fetched.status)
    return _told(one.draft, page, ports)


async def file_of(
    ports: Ports, live: LiveSource, one: Waiting, memory: bytes, steps: CheckSteps = NO_STEPS
) -> ListLook:
    """Return the items in a file of a sitemap's index. Raises LookFailed, UrlRefused."""
    fetched = await _fetched(ports, live, one, _FILE, steps)
    return await _read_file(ports, one, memory, fetched.body)


async def file_missing(ports: Ports, one: Waiting, memory: bytes) -> ListLook:
    """Return the memory after a file of an index is permanently unavailable: it counts as read."""
    return await _read_file(ports, one, memory, b"")


async def _read_file(ports: Ports, one: Waiting, memory: bytes, body: bytes) -> ListLook:
    request = ListRequest(body, "", one.file, memory=memory, file=one.file)
    deadline = patience(ports.settings.parse_deadline, body)
    answer = await in_jail(ports.world.jail, "look_list", msgspec.msgpack.encode(request), deadline=deadline)
    return msgspec.msgpack.decode(answer, type=ListLook)


async def _fetched(ports: Ports, live: LiveSource, one: Waiting, accept: str, steps: CheckSteps) -> FetchedResponse:
    """Fetch a page in the host's turn, with the user's access to its own origin; never posts."""
    claim = Ticket(live.source.id, live.hot.last_look_at or 0, steps=steps, own=True)
    seen = ports.lenders.borrowed(live)
    renewal = renewal_of(ports, seen)
    access = access_of(seen.source, renewal.now)._replace(body=None)
    try:
        fetched = await fetch(ports, claim, one.url, accept=accept, robots=True, access=access, renewal=renewal)
    except LookFailed as failure:
        if failure.status in SHUT_OUT:
            renewal.shut_out()
        raise
    if access.headers and not seen.source.detection.asks_password and asks_password(fetched.body):
        renewal.shut_out()
    else:
        renewal.works()
    return fetched


def _told(draft: Draft, page: ItemPage, ports: Ports) -> Draft:
    """Return a draft completed from its page. Longer text and other details from the list or feed win."""
    title = draft.title or page.title
    after = replace(
        draft,
        title=title,
        author=draft.author or page.author,
        published_at=draft.published_at if draft.published_at is not None else page.published_at,
        fetched_at=ports.world.now(),
    )
    if len(page.content) <= len(draft.content):
        return after
    return replace(
        after,
        content=page.content,
        content_truncated=page.truncated,
        content_hash=page.content_hash,
        simhash=page.simhash,
        changes=values_of_entry(title, page.content),
    )
