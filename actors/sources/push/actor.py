"""A push source's life: connect, send the hello, take frames, commit the admitted ones, reconnect.

Frames come faster than commits, so those admitted within a few milliseconds form one harvest. One task does it all: it
reads nothing while a harvest is being committed, so TCP itself slows the server down. Reconnecting waits with full
jitter from 1 s up to 5 min; a minute of life or one admitted frame resets the streak, so that a server which accepts
and drops is not hammered.

Without an answer from the recorder it is unknown whether a harvest was committed. Storage shows which frames it has,
and the rest is sent again: by this run of the actor, or by the next (`LiveSource.uncertain_frames`). If the recorder
still had the harvest then, the version check would refuse one of the two.
"""

from __future__ import annotations

import json
import math
import random
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from http import HTTPStatus
from typing import Final

import trio
from msgspec.structs import replace

from actors.egress.event_stream import EventStream
from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import HostOpen, TurnRequest
from actors.egress.stream_lines import kind_of
from actors.egress.url import Url, parse_url
from actors.egress.websocket import Frames, SessionEnded
from actors.errors import UrlRefused
from actors.messages.views import PushView
from actors.messages.workers import Record, SaveStates
from actors.sources import detection as pending
from actors.sources.checks import progress
from actors.sources.checks.access import SIGNED_OUT_STATUSES, RequestAccess, renewal_of
from actors.sources.checks.fetch import as_failure, host_of
from actors.sources.checks.source_fetch import REJECTED_HEADERS
from actors.sources.detection import Classification, open_session, stream_detection, websocket_detection
from actors.sources.health.notices import FailureTimer
from actors.sources.lending import ResolvedSource
from actors.sources.ports import LiveSource, Ports, limits_of, new_version
from actors.sources.push import connection
from actors.sources.push.connection import Minute, Session, reply_to
from actors.sources.push.frames import FramePipeline
from storage.errors import StorageError, Unavailable
from storage.records.checks import Verdict
from storage.records.event import Draft
from storage.records.identity import Millis
from storage.records.source import PART_BREAK, Harvest, SourceRuntime, SourceState
from storage.records.tiers import SOCKETS
from supervision import Child, MailboxFull, Unanswered

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


LINGER: Final = 0.01  # seconds that an admitted frame waits to share a commit
MINUTE: Final = 60.0  # seconds of life that prove a connection; each such period counts as a check
FLUSH_WITHIN: Final = 2.0
STOPPED: Final = 86_400.0  # seconds before reconnecting to a stream that asked us to stop (204)


def _with_header_reason(resolved: ResolvedSource, error: CheckFailed) -> CheckFailed:
    if resolved.source.headers is None or error.status != HTTPStatus.UNAUTHORIZED:
        return error
    owner = f"; they are those of {resolved.lender}" if resolved.lender else ""
    reason = f"{error.reason}: {REJECTED_HEADERS}{owner}"
    return CheckFailed(error.blame, reason, status=error.status, retry_after=error.retry_after)


class PushSource:
    """The actor of one WebSocket, or one stream over HTTP."""

    def __init__(self, ports: Ports, live: LiveSource) -> None:
        self._ports, self._live = ports, live
        self._pipeline = FramePipeline(ports, live)
        self._failure_timer = FailureTimer(ports, live)
        self._committer = Committer(ports, live, self._pipeline, self._failure_timer)
        self._chance: random.Random = ports.world.chance(f"source/{live.source.id}")
        self._streak = 0
        self._frames: Frames | EventStream | None = None
        self._began_at = self._minute_end = 0.0
        self._is_proven = False
        self._hello: deque[str] = deque()
        self._retry = 0.0
        """Seconds before the next connection, as the server wishes."""
        is_socket = live.source.watch_url.startswith(SOCKETS)
        self._status = HTTPStatus.SWITCHING_PROTOCOLS if is_socket else HTTPStatus.OK

    async def run(self, child: Child) -> None:
        """Stay connected until cancelled; then commit pending admitted frames within 2 seconds."""
        try:
            await self._keep_connected(child)
        finally:
            with trio.move_on_after(FLUSH_WITHIN, shield=True):
                # The server would not send again what it sent before the close. Slow storage must not cost a frame:
                # then the last known filter decides.
                if self._frames is not None and (texts := self._frames.unread()):
                    await self._take(self._frames, texts, within=FLUSH_WITHIN / 2)
            self._disconnected()
            with trio.move_on_after(FLUSH_WITHIN, shield=True):
                await self._committer.flush()
            self._committer.stop()

    async def _take(self, frames: Frames | EventStream, texts: Sequence[str], *, within: float = math.inf) -> None:
        counts = frames.statistics()
        await self._pipeline.take(texts, counts.skipped, counts.why, within=within)
        if isinstance(frames, EventStream):
            self._pipeline.window.move_to(frames.resume_id)

    async def _keep_connected(self, child: Child) -> None:
        if self._live.uncertain_frames:
            await self._committer.take_over()
        elif self._live.window is None:
            await self._pipeline.load_window()
        now = self._ports.world.now()
        self._live.hot = progress.cap_waits(self._live.hot, now, limits_of(self._live.source, self._ports.settings))
        await self._wait(((self._live.hot.next_look_at or now) - now) / 1000)
        while True:
            line, gate = self._ports.egress.uplink, self._ports.pause_switch
            if gate.is_closed:
                child.note("on hold: the service is drained", on_hold=True)
                self._live.unconfirmed = True
                await self._wait(await gate.wait_open(self._chance.random()))
            if line.down:
                child.note("on hold: our own connection is down", on_hold=True)
                await self._wait(await line.clearance(host_of(self._live.source.watch_url), self._chance.random()))
            child.note("connecting")
            try:
                await self._run_session(child)
            except HostOpen as host:  # no request was made, so none counts, unless the host is down
                hot, now = replace(self._live.hot, last_error=host.reason), self._ports.world.now()
                if host.failing:
                    self._failure_timer.on_check()
                await self._committer.save(progress.host_unreachable(hot, now, host.reason) if host.failing else hot)
                wait = (host.retry_after or 0.0) + self._chance.uniform(0.0, MINUTE)
            except (CheckFailed, UrlRefused) as error:
                wait = await self._end_session(as_failure(error))
            except (Unavailable, ExceptionGroup) as error:
                if isinstance(error, ExceptionGroup) and error.split(Unavailable)[1] is not None:
                    raise
                self._disconnected()
                self._live.unconfirmed = True
                self._ports.world.log("push.parked", level="debug", source_id=self._live.source.id, error=str(error))
                wait = self._ports.settings.cadence_floor * self._chance.uniform(0.5, 1.5)
            child.note("waiting to reconnect")
            await self._wait(wait)

    # --- a connection ------------------------------------------------------------------------------------------------

    async def _run_session(self, child: Child) -> None:
        self._frames, self._is_proven, self._began_at = None, False, trio.current_time()
        self._pipeline.begin()
        url = parse_url(self._live.source.watch_url, schemes=self._live.source.tier.schemes)
        async with AsyncExitStack() as stack:
            frames = self._frames = await self._connect(stack, url)
            child.note("connected")
            self._hello = deque(PART_BREAK.split(hello) if (hello := self._live.source.hello) is not None else ())
            await self._send_hello(frames)  # each further part waits for an answer
            while True:
                await self._collect(frames)

    async def _connect(self, stack: AsyncExitStack, url: Url) -> Frames | EventStream:
        """Shake hands. That takes one request's turn at the host; the open connection holds none."""
        ports, source, resolved = self._ports, self._live.source, self._ports.lenders.resolve(self._live)
        renewal = renewal_of(ports, resolved)
        request_access = RequestAccess(ports, url, renewal)
        window, claim = self._pipeline.window, TurnRequest(source.id, self._live.hot.last_look_at or 0)
        last_id = window.last_id if kind_of(source.detection.content_type) == "lines" else window.position
        started = trio.current_time()
        try:
            frames = await open_session(ports, stack, claim, request_access, source.subprotocols, last_id)
        except HostOpen:
            raise
        except CheckFailed as error:
            if error.status in SIGNED_OUT_STATUSES:
                renewal.reject()
            raise _with_header_reason(resolved, error) from None
        renewal.confirm()
        self._began_at = trio.current_time()
        self._minute_end = self._began_at + MINUTE
        now, ms = ports.world.now(), round(1000 * (self._began_at - started))
        if source.detection.pending:
            if isinstance(frames, EventStream):
                detection = stream_detection(url.text, frames.says)
            else:
                detection = websocket_detection(url.text, source.subprotocols, frames.subprotocol)
            found = Classification("push", detection, url.text, None, now)
            await pending.store_classification(ports, self._live, found)
        self._live.count(now, Verdict.UNCHANGED)
        private = resolved.source.headers is not None or ports.egress.hosts.is_internal(url.host)
        self._live.hot = connection.after_connect(self._live.hot, now, ms, self._status, private=private)
        self._live.unsaved = True
        before = self._live.push or PushView()
        self._live.push = replace(
            before, connected_since=now, subprotocol=frames.subprotocol, connections=before.connections + 1
        )
        return frames

    async def _send_hello(self, frames: Frames | EventStream) -> None:
        if self._hello:
            escaped = json.dumps(self._pipeline.window.last_id)[1:-1]
            await frames.send(self._hello.popleft().replace("{last_id}", escaped))

    async def _reply(self, frames: Frames | EventStream, texts: Sequence[str]) -> Sequence[str]:
        """Answer the frames that match a reply rule; return the others. Each of these triggers a part of the hello."""
        others = []
        for text in texts:
            if (reply := reply_to(text, self._live.source.replies)) is not None:
                await frames.send(reply)
                continue
            others.append(text)
            await self._send_hello(frames)
        return others

    async def _collect(self, frames: Frames | EventStream) -> None:
        until = math.inf
        while not self._pipeline.full:
            texts: Sequence[str] = ()
            with trio.move_on_at(min(until, self._minute_end)) as waiting:
                try:
                    texts = await frames.receive()
                except SessionEnded:
                    if not self._pipeline.pending:
                        raise
                    break  # the next receive raises it again
            try:
                if self._hello or self._live.source.replies:
                    texts = await self._reply(frames, texts)
                await self._take(frames, texts)
            except trio.Cancelled:
                frames.push_back(texts)
                raise
            if waiting.cancelled_caught:
                break
            if self._pipeline.pending and until == math.inf:
                until = trio.current_time() + LINGER
        if self._pipeline.pending:
            self._live.count(self._ports.world.now(), Verdict.CHANGED)
            await self._committer.commit()
            if not self._is_proven:
                await self._count_minute()
        if trio.current_time() >= self._minute_end:
            await self._count_minute()

    async def _count_minute(self) -> None:
        """Count a minute of life, or the time until the first admitted frame."""
        now = trio.current_time()
        self._is_proven, self._streak = True, 0
        self._failure_timer.on_check()
        minute, at = self._minute(now), self._ports.world.now()
        self._live.count(at, Verdict.NOTHING_TO_TELL if minute.frames else Verdict.UNCHANGED)
        await self._committer.save(connection.after_minute(self._live.hot, minute, at))
        self._committer.save_position()
        self._minute_end = now + MINUTE

    def _minute(self, now: float) -> Minute:
        frames, unreadable, why = self._pipeline.take_counts()
        return Minute(now - (self._minute_end - MINUTE), frames, unreadable, why)

    # --- the end of a connection, and the way to the next ------------------------------------------------------------

    def _disconnected(self) -> None:
        with suppress(trio.WouldBlock):
            while True:
                self._live.mailbox.receive_nowait()  # the connection served the requests for a check
        self._pipeline.pause()
        if self._live.push is not None:
            self._live.push = replace(self._live.push, connected_since=None, subprotocol=None)

    async def _end_session(self, failure: CheckFailed) -> float:
        self._disconnected()
        ports, source = self._ports, self._live.source
        host, now = host_of(source.watch_url), ports.world.now()
        if isinstance(failure, SessionEnded):
            if failure.answered:
                ports.egress.uplink.answered(host)
            else:
                failure = ports.egress.uplink.failed(host, failure)
        self._failure_timer.on_check(local=failure.blame is Blame.LOCAL)
        session = self._session_counts()
        hot, is_proven = self._live.hot, self._is_proven
        if is_proven:
            hot = connection.after_minute(hot, self._minute(trio.current_time()), now)
        fault: Blame | None = failure.blame
        orderly = is_proven and isinstance(failure, SessionEnded) and failure.orderly
        self._live.count(now, Verdict.UNCHANGED if orderly else Verdict[failure.blame.name])
        if orderly:
            hot, fault = connection.after_close(hot, session, now, self._status), None
        else:
            self._streak += failure.blame is not Blame.LOCAL
            draw = self._chance.random()
            hot = connection.after_failure(hot, failure, session, now, limits_of(source, ports.settings), draw)
        if source.detection.pending:
            hot = pending.with_pending_health(hot, now)
        await self._committer.save(hot)
        ports.world.log("push.ended", source_id=source.id, blame=failure.blame.value, why=failure.reason)
        if isinstance(self._frames, EventStream) and self._frames.lines.retry is not None:
            self._retry = min(self._frames.lines.retry, connection.LONGEST_DELAY)
        pause = STOPPED if failure.status == HTTPStatus.NO_CONTENT else 0.0
        delay = connection.delay(self._live.hot, self._streak, fault, now, self._chance.random())
        return max(pause, self._retry, delay)

    def _session_counts(self) -> Session:
        seconds = trio.current_time() - self._began_at
        if self._frames is None:
            return Session(0, 0, 0, seconds)
        counts = self._frames.statistics()
        return Session(counts.received, self._pipeline.admitted, counts.size, seconds)

    async def _wait(self, wait: float) -> None:
        if wait <= 0:
            return
        self._live.hot = connection.scheduled(self._live.hot, Millis(self._ports.world.now() + round(wait * 1000)))
        await self._failure_timer.sleep(wait, self._committer.send)
