"""From a source's draft to the wire form of an event, except its signature. Pure."""

from __future__ import annotations

from msgspec import UNSET

from actors.content.wording.one_line import of_text
from storage.records.event import Draft, Event
from storage.records.identity import Millis, SourceId
from storage.records.times import rfc3339

SCHEMA_VERSION = 1
SCHEMA_PATH = "/schemas/stream-event/1.json"


def build(event_id: str, source: SourceId, draft: Draft, base_url: str, now: Millis) -> Event:
    """Build an event from a draft.

    base_url: without a final slash. `emitted_at` is now, but never before `fetched_at`: the clock may have stepped back
    between the check and the commit.
    """
    return Event(
        schema=base_url + SCHEMA_PATH,
        id=event_id,
        source_id=source,
        source_type=draft.source_type,
        source_url=draft.source_url,
        url=draft.url,
        title=draft.title,
        summary=draft.summary or of_text(draft.title, draft.content, draft.url, draft.source_url),
        author=draft.author,
        content=draft.content,
        content_truncated=True if draft.content_truncated else UNSET,
        content_hash=draft.content_hash,
        simhash=draft.simhash,
        tags=draft.tags,
        published_at=None if draft.published_at is None else rfc3339(draft.published_at),
        fetched_at=rfc3339(draft.fetched_at),
        emitted_at=rfc3339(max(now, draft.fetched_at)),
        schema_version=SCHEMA_VERSION,
        diff=UNSET if draft.diff is None else draft.diff,
        delta=UNSET if draft.delta is None else draft.delta,
        changes=draft.changes or UNSET,
        unread=draft.unread or UNSET,
        alert_type=UNSET if draft.alert_type is None else draft.alert_type,
        heartbeat=UNSET if draft.heartbeat is None else draft.heartbeat,
        story=(draft.story or event_id) if draft.alert_type is None else UNSET,
    )
