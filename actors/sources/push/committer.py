"""The commits of a push source: harvests of admitted frames, notices of its health, and its window at a stop.

Without an answer from the recorder it is unknown whether a harvest was committed. Storage shows which frames it has,
and the rest is sent again: by this run of the actor, or by the next, which takes over the uncertain frames
(`LiveSource.uncertain_frames`). If the recorder still had the harvest then, the version check would refuse one of the
two.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import trio
from msgspec.structs import replace

from actors.messages.workers import Record, SaveStates
from actors.sources.health.notices import FailureTimer
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.push.frames import FramePipeline
from storage.errors import StorageError
from storage.records.event import Draft
from storage.records.source import Harvest, SourceRuntime, SourceState
from supervision import MailboxFull, Unanswered

AGAIN: Final = 1.0


class Committer:
    """Sends to the recorder for one push source."""

    def __init__(self, ports: Ports, live: LiveSource, pipeline: FramePipeline, failure_timer: FailureTimer) -> None:
        self._ports, self._live, self._pipeline = ports, live, pipeline
        self._failure_timer = failure_timer
        self._is_uncertain = self._is_sending = False
        self._sent_frames: Sequence[tuple[bytes, str, Draft]] = ()

    async def save(self, after: SourceRuntime) -> None:
        """Keep a state, with its notice if there is one. An uncommitted notice is retried with the next state."""
        health, notices = self._failure_timer.due_notices(self._live.hot.health, after.health, self._ports.world.now())
        await self.send(replace(after, health=health), notices)

    async def send(self, after: SourceRuntime, notices: tuple[Draft, ...]) -> None:
        """Keep a state and commit its notices; without an answer, read from storage whether they were. Until then no
        other task may save the state, or a crash would lose the notice.
        """
        if not notices:
            self._live.hot, self._live.unsaved = after, True
        elif await self._send(notices, 0, after) or await self._is_committed(after):
            self._live.hot = after
        else:
            health = replace(self._live.hot.health, down_since=after.health.down_since)
            self._live.hot, self._live.unsaved = replace(after, health=health), True

    async def take_over(self) -> None:
        self._pipeline.restore(self._live.uncertain_frames)
        self._live.uncertain_frames, self._is_uncertain = (), True
        await self.commit()

    async def commit(self) -> None:
        while self._pipeline.pending:
            if self._is_uncertain:
                await trio.sleep(AGAIN)
            await self.flush()

    async def flush(self) -> None:
        """Try once to commit the pending frames. If cancelled, they are still pending or with the recorder."""
        if self._sent_frames:  # cancelled before: pending frames must not be stored with a window that includes these
            return
        if self._is_uncertain:
            try:
                await self._pipeline.load_window()
            except StorageError:
                return
            self._is_uncertain = False
        taken = self._sent_frames = self._pipeline.take_pending()
        if taken and not await self._send(tuple(draft for _, _, draft in taken), len(taken)):
            self._pipeline.restore(taken)
            self._is_uncertain = True
        self._sent_frames = ()

    def stop(self) -> None:
        """Save the whole window if the last harvest saved only a part; leave uncertain frames to the next run."""
        window = self._live.window
        if self._is_uncertain or self._is_sending:
            self._live.uncertain_frames = (*self._sent_frames, *self._pipeline.take_pending())
        elif window is not None and not window.is_saved:
            self._save(window.encode(len(window)))

    def save_position(self) -> None:
        window = self._live.window
        if window is not None and not (window.is_position_saved or self._is_uncertain or self._is_sending):
            self._save(window.encode(0))

    def _save(self, base: bytes) -> None:
        with suppress(MailboxFull):  # the place saved before holds, and later frames may come again
            self._ports.recorder.send_nowait(SaveStates((replace(self._live.state_to_save(), base=base),)))

    async def _is_committed(self, after: SourceRuntime) -> bool:
        try:
            stored = await self._ports.storage.sources.get(self._live.source.id)
        except StorageError:
            return False
        if stored is not None:
            self._live.version = stored.version
        return stored is not None and stored.hot.health.told == after.health.told

    async def _send(self, drafts: tuple[Draft, ...], fresh: int, hot: SourceRuntime | None = None) -> bool:
        source = self._live.source.id
        base = self._pipeline.window.encode(fresh) if fresh else None
        since, version = self._live.version, new_version(self._ports.world)
        sent = replace(self._live.hot if hot is None else hot, tally=self._live.tally, cookies=self._live.cookies.text)
        state = SourceState(source, sent, base, since, version)
        self._live.unsaved = False  # else a sweep would save the older state after this one
        self._is_sending = True
        try:
            await self._ports.recorder.ask(lambda reply: Record(Harvest(source, drafts, state), reply))
        except (Unanswered, StorageError) as error:
            self._ports.world.log("harvest.unacknowledged", source_id=source, error=str(error))
            self._is_sending, self._live.unsaved = False, True
            return False
        self._is_sending, self._live.version = False, version
        self._live.mark_stored(sent)
        return True
