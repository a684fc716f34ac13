"""Pages and sitemaps of sources that follow, read as lists: one draft for each new item."""

from __future__ import annotations

import msgspec

from actors.content.messages.listings import ListLook, ListRequest
from actors.egress.failures import Blame, LookFailed
from actors.egress.http import FetchedResponse
from actors.sources.following.telling import drafts_of, note_of
from actors.sources.looks.reading import Reading, body_hints, in_jail, patience
from actors.world import Jail
from storage.records.identity import Millis
from storage.records.source import Source


class ListReader:
    """Reads lists. deadline: a worker's seconds for an ordinary one; large sitemaps get more."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    async def read(
        self,
        jail: Jail,
        source: Source,
        base: bytes,
        fetched: FetchedResponse,
        at: Millis,
        *,
        since: Millis | None,
        was: str,
    ) -> Reading:
        """Return drafts of the new items, oldest first. Raises LookFailed. was: the original format."""
        request = ListRequest(
            fetched.body, fetched.content_type, fetched.url, source.selector, source.ignore, base or None, was=was
        )
        deadline = patience(self._deadline, fetched.body)
        answer = await in_jail(jail, "look_list", msgspec.msgpack.encode(request), deadline=deadline)
        look = msgspec.msgpack.decode(answer, type=ListLook)
        if look.trouble is not None:
            raise LookFailed(Blame.CONTENT, f"not the page itself: {look.trouble}", status=fetched.status)
        drafts = drafts_of(source, look, at)
        return Reading(
            drafts,
            look.memory,
            changed=bool(look.new or look.bulk),
            hints=body_hints(fetched),
            note=note_of(look, at, since) if look.memory is not None or look.new else None,
            title=look.title,
            remark=look.remark,
            files=look.files,
        )
