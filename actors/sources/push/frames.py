"""Turns a connection's frames into the drafts of admitted ones, in steps that leave the loop to others.

Frames are untrusted. Small ones are parsed here, large ones in a worker. Duplicates and frames that match no query are
counted and dropped before anything is stored. At most `MOST` admitted frames, or `MOST_SIZE` characters of them, wait
for a commit; at that bound the reader stops reading.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import trio
from msgspec.structs import replace

from actors.content.bodies.frames import MOST_SMALL, Frame, cap_content, is_small, read_frames
from actors.content.errors import ContentError
from actors.content.messages import FrameRequest
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchedResponse
from actors.egress.stream_lines import name_of
from actors.messages.requests import DetectRequest, DraftEvent, Preview, PushPreview
from actors.messages.sources import ExplainSource
from actors.messages.views import PushView, Reason, SourceView
from actors.sources.checks.fetch import in_jail
from actors.sources.checks.progress import draft_event, draft_of
from actors.sources.dedup_window import DedupWindow, decode
from actors.sources.detection import MOST_FRAMES, Classification
from actors.sources.explanation import counts_of
from actors.sources.ports import LiveSource, Ports
from storage.errors import StorageError
from storage.records.checks import Note, StoredMemory, read_notes
from storage.records.event import NEW, Draft
from storage.records.identity import Millis, SourceId
from storage.records.message import joined, message
from storage.records.source import Source

MOST: Final = 256
MOST_SIZE: Final = 1 << 20
_STEP: Final = 24.0  # small frames that are parsed in one step of the loop, if few queries test them
_FRAME_SIZE: Final = 500
_FRAME_QUERIES: Final = 20
_AGAIN: Final = 1.0
_NOTE_EVERY, _LONGEST_STRETCH = 60_000, 3_600_000
"""Milliseconds between notes on one stretch of listening, and its maximum length."""


class FramePipeline:
    """Received frames that are not yet committed. `admitted` counts since `begin`."""

    def __init__(self, ports: Ports, live: LiveSource) -> None:
        self._ports, self._live = ports, live
        self._version = -1
        self._filter = ports.admission.filter_for(live.source)
        self._skipped = self._frames = self._unreadable = self.admitted = 0
        self._unreadable_reason = ""
        self._since = self._noted_at = ports.world.now()
        self._listening: Counter[str] = Counter()
        self.pending: list[tuple[bytes, str, Draft]] = []
        """(mark, own id, draft), in order of arrival."""
        self.size = 0

    @property
    def full(self) -> bool:
        return len(self.pending) >= MOST or self.size >= MOST_SIZE

    @property
    def window(self) -> DedupWindow:
        assert self._live.window is not None, "recall() comes first"
        return self._live.window

    def begin(self) -> None:
        self._since = self._ports.world.now()
        self._skipped = self._frames = self._unreadable = self.admitted = 0

    def pause(self) -> None:
        now = self._ports.world.now()
        if self._listening:
            self._write_note(now)
        self._listening, self._since = Counter(), now

    def take_counts(self) -> tuple[int, int, str]:
        """Return the frames since the last call or `begin`, the unreadable ones among them, and why."""
        counts = self._frames, self._unreadable, self._unreadable_reason
        self._frames = self._unreadable = 0
        return counts

    async def load_window(self) -> None:
        """Read the window back from storage; keep only pending frames that are not in it."""
        stored = await self._ports.storage.sources.get(self._live.source.id)
        window = self._live.window = decode(stored.base) if stored is not None else DedupWindow()
        if stored is not None:
            self._live.version = stored.version
        unsaved = [each for each in self.pending if each[0] not in window]
        self.take_pending()
        for each in unsaved:
            self._keep(*each)

    def take_pending(self) -> Sequence[tuple[bytes, str, Draft]]:
        taken, self.pending, self.size = self.pending, [], 0
        return taken

    def restore(self, frames: Sequence[tuple[bytes, str, Draft]]) -> None:
        self.pending = [*frames, *self.pending]
        self.size = sum(len(draft.content) for _, _, draft in self.pending)

    async def take(self, texts: Sequence[str], skipped: int, why: str = "", *, within: float = math.inf) -> None:
        """Read frames, and keep the admitted ones; if cancelled, some may be unprocessed. `skipped`: this connection's
        frames that were no text so far, `why`: the reason for the last. within: seconds after which the last known
        filter decides.
        """
        with trio.move_on_after(within):
            await self._refresh()
        now, spent = self._ports.world.now(), 0.0
        counts = {"duplicates": 0, "filtered": 0, "unreadable": skipped - self._skipped, "admitted": 0}
        if skipped > self._skipped:
            self._skipped, self._unreadable_reason = skipped, why
        if self._filter.nothing:
            counts["filtered"], texts = len(texts), ()
        for text in texts:
            try:
                events = await self._read(text)
            except (ContentError, CheckFailed) as error:
                counts["unreadable"] += 1
                self._unreadable_reason = error.reason
                continue
            spent += len(text) / _FRAME_SIZE
            for framed in events:
                counts[await self._judge(framed, now)] += 1
                spent += 1 + self._filter.cost / _FRAME_QUERIES
                if spent > _STEP:
                    spent = 0.0
                    await trio.lowlevel.cancel_shielded_checkpoint()
        if frames := sum(counts.values()):
            self._count(now, frames, counts)

    async def _refresh(self) -> None:
        """Update the filter. While no filter is known, no frame is judged."""
        admission = self._ports.admission
        while True:
            try:
                await admission.refresh()
                break
            except StorageError as error:
                self._ports.world.log("alerts.unreadable", source_id=self._live.source.id, error=str(error))
                await trio.sleep(_AGAIN)
        if self._version != admission.version:
            self._version = admission.version
            self._filter = admission.filter_for(self._live.source)

    async def _judge(self, frame: Frame, now: Millis) -> str:
        if frame.mark in self.window:
            return "duplicates"
        if len(frame.content) > MOST_SMALL:
            await self._filter.prepare(frame.content)
        if not self._filter.admits(frame.title, frame.content, frame.tags):
            return "filtered"
        draft = draft_of(self._live.source, frame if frame.content_hash else cap_content(frame), NEW, now)
        self._keep(frame.mark, frame.id, draft)
        return "admitted"

    async def _read(self, text: str) -> list[Frame]:
        url, name = self._live.source.watch_url, name_of(text)
        if is_small(text := str(text)):
            return read_frames(text, url, name)
        return await in_jail(self._ports.world.jail, "frame", FrameRequest(text, url, name), list[Frame])

    def _keep(self, mark: bytes, own_id: str, draft: Draft) -> None:
        self.pending.append((mark, own_id, draft))
        self.size += len(draft.content)
        self.window.add(mark, own_id)

    def _note(self, now: Millis, counts: Mapping[str, int]) -> None:
        self._listening.update(counts)
        if now - self._since >= _LONGEST_STRETCH:
            self.pause()
        elif now - self._noted_at >= _NOTE_EVERY:
            self._write_note(now)

    def _write_note(self, now: Millis) -> None:
        self._noted_at = now
        self.window.add_note(Note(self._since, "stretch", "", counts=dict(self._listening), until=now))

    def _count(self, now: Millis, frames: int, counts: dict[str, int]) -> None:
        admitted = counts["admitted"]
        self._frames += frames
        self._unreadable += counts["unreadable"]
        self.admitted += admitted
        self._note(now, {"frames": frames, **counts})
        live, view = self._live, self._live.push or PushView()
        totals = {name: getattr(view, name) + count for name, count in counts.items()}
        live.push = replace(view, frames=view.frames + frames, **totals)
        hot, last_event = live.hot, now if admitted else live.hot.last_event_at
        hot = replace(hot, looks=hot.looks + frames, events=hot.events + admitted, last_event_at=last_event)
        live.hot, live.unsaved = replace(hot, last_look_at=now, last_success_at=now), True


LISTEN: Final = 3.0  # seconds to wait for the first frames
_NOBODY: Final = SourceId("")


async def preview(ports: Ports, classification: Classification, detect_request: DetectRequest) -> Preview:
    greeting, url = classification.greeting, classification.watch_url
    assert greeting is not None, "its first frames were waited for"
    at, detection = classification.at, classification.detection
    source = Source(_NOBODY, url, url, "push", detection, at, at, filter=detect_request.filter)
    await ports.admission.refresh()
    filter = ports.admission.filter_for(source)
    events: list[DraftEvent] = []
    for text in greeting.frames:
        request = FrameRequest(str(text), url, name_of(text))
        try:
            frames = await in_jail(ports.world.jail, "frame", request, list[Frame])
        except CheckFailed:
            continue  # an unreadable frame becomes no event either
        for frame in frames[: MOST_FRAMES - len(events)]:
            events.append(draft_event(frame, url, "id", filter.admits(frame.title, frame.content, frame.tags)))
    push = PushPreview(greeting.subprotocol, greeting.waited, len(greeting.frames), tuple(events), greeting.ended)
    return Preview(classification.at, push=push)


async def search(
    ports: Ports, view: SourceView, memory: StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    return [frame_reason(view, read_notes(memory.notes))]


def frame_reason(view: SourceView, notes: Sequence[Note]) -> Reason:
    reason = message("A frame is reported if an alert matches it; others are not stored.")
    if view.source.filter is not None:
        reason = message("A frame is reported if its source's filter or an alert matches; others are not stored.")
    push = view.push
    if push is not None and push.frames:
        since = message(
            "Since the service started %(count)s frames have arrived: %(told)s reported, %(unasked)s that nothing "
            "matched, %(again)s repeated, %(bad)s unreadable.",
            count=push.frames,
            told=push.admitted,
            unasked=push.filtered,
            again=push.duplicates,
            bad=push.unreadable,
        )
        return Reason("unasked", joined([reason, since]))
    last = next((note for note in reversed(notes) if note.came == "stretch"), None)
    counts = None if last is None else message("From %(at)s: %(counts)s.", at=last.at, counts=counts_of(last))
    return Reason("unasked", joined([reason, counts]))
