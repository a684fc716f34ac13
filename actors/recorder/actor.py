"""The recorder: takes waiting messages, commits them in one transaction, and acknowledges.

Order is the promise here. A harvest is acknowledged only after its events are durable; ids are minted inside the
transaction, so their order is the order of commit. If the actor is cancelled or crashes, the result of taken,
unfinished messages is *unknown* to their senders: their requests end as Unanswered, and they read their state back from
storage. The mailbox outlives the actor, so messages not yet taken wait for its next life.

`sanderling keys rotate-signing` runs in another process and only writes to the data folder. So each batch of events and
each request for the JWK Set first reads the id of the active key, and a key is never used before it is published.

Positions and ids only grow (RFC 9562, 6.2, method 1): milliseconds, then a counter of 15 bits. The time part never
decreases, whatever the wall clock shows; a full counter borrows the next millisecond. A new millisecond starts its
counter low, but not at zero, so that ids cannot be guessed from their time.

The story of an event is that of another source's event of the last week with the same news. For an event with a diff,
only the added texts are compared, without its link, since a page's address is the same in every change.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import trio
from msgspec import UNSET, Struct

from actors.content.wording.story import NewsItem, same_story
from actors.content.wording.words import of_text
from actors.egress.http import Sign
from actors.egress.url import Url
from actors.messages.workers import Record, RecorderMessage, SaveStates
from actors.signatures import MessageSigner, Signer, content_digest, jwks, key_directory, new_signing_key
from actors.world import World
from storage.append import Answer, Marks, events_of
from storage.errors import STANDSTILL, DiskFull, StorageError
from storage.records.access import PublicKey, SigningKey
from storage.records.event import UPDATED, Diff, Draft, Event, Stored, kind_of
from storage.records.identity import COUNTER_BITS, START, Millis, Seq, SourceId, id_of, rfc3339
from storage.records.tiers import Kind, tier_of
from storage.sql.storage import Storage
from supervision import Child, Mailbox, MailboxFull


class Directory(NamedTuple):
    """The published keys for signed requests, and the headers that prove their publisher."""

    body: bytes
    headers: dict[str, str]


class SigningKeys:
    """The keys as last read, the active one first; there is at least one. Keys with only a public half, of an import or
    a lost master key, are read for each request, as a command deletes them.
    """

    def __init__(self, storage: Storage, keys: Sequence[SigningKey]) -> None:
        self._storage = storage
        self._others: Sequence[PublicKey] = ()
        self._hold(keys)

    def _hold(self, keys: Sequence[SigningKey]) -> None:
        self._keys = keys
        self._signer = Signer(keys[0])
        self._messages = [MessageSigner(key) for key in keys]
        self._published: bytes | None = None

    async def signer(self) -> Signer:
        """Return the signer with the active key. Raises StorageError."""
        await self._refresh()
        return self._signer

    async def published(self) -> bytes:
        """Return all keys, including those without a private half, as an encoded JWK Set. Raises StorageError."""
        await self._refresh()
        others = await self._storage.keys.public()
        if others != self._others:
            self._others, self._published = others, None
        if self._published is None:
            self._published = jwks(self._keys, self._others)
        return self._published

    async def directory(self, authority: str, at: int) -> Directory:
        """Return an authority's key directory (Web Bot Auth), signed; at: s since 1970. Raises StorageError."""
        await self._refresh()
        body = key_directory(self._messages)
        digest = content_digest(body)
        proof = self._messages[0].sign_directory(authority, digest, at)
        return Directory(body, {"Content-Digest": digest, **dict(proof)})

    async def _refresh(self) -> None:
        active = await self._storage.keys.active_signing()
        if active is not None and active != self._signer.key_id:
            self._hold(await self._storage.keys.signing())

    def signer_of_checks(self, world: World, agent: str) -> Sign:
        async def sign(method: str, url: Url) -> Sequence[tuple[str, str]]:
            await self._refresh()
            path = url.target.partition("?")[0]
            return self._messages[0].sign_request(method, url.authority, path, agent, int(world.wall()))

        return sign


async def signing_keys(world: World, storage: Storage) -> Sequence[SigningKey]:
    """Return the signing keys, the active one first; the very first start makes one."""
    keys = await storage.keys.signing()
    if not keys:
        await storage.keys.add_first_signing(new_signing_key(world.entropy(32), world.now()))
        keys = await storage.keys.signing()
    return keys


_NONE = (Kind.NOTICE, Kind.HEARTBEAT, Kind.PRACTICE, Kind.HELD)
_MOST_READ = 4_000  # maximum characters of added texts that are joined


class _StoryFields(Struct, gc=False):
    id: str
    source_url: str
    url: str
    title: str
    content: str
    tags: tuple[str, ...]
    diff: Diff | None = None
    story: str = ""


_decode = msgspec.json.Decoder(_StoryFields).decode


class SameStories:
    """See `storage.append.Stories`."""

    def marks(self, draft: Draft) -> Marks:
        return () if kind_of(draft) in _NONE else _marks(draft)

    def marks_of(self, event: Stored) -> Marks:
        """Return a known event's marks; none if its body cannot be read."""
        event_fields = None if event.kind in _NONE else _decoded(event)
        return () if event_fields is None else _marks(event_fields)

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        item = _news_item(draft)
        for event in sorted(earlier, key=lambda event: event.seq):
            if (
                event.source != source
                and (other := _decoded(event)) is not None
                and same_story(_news_item(other), item)
            ):
                return other.story or other.id
        return ""


def _decoded(event: Stored) -> _StoryFields | None:
    try:
        return _decode(event.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # a damaged body must not stop the log


def _marks(news: Draft | _StoryFields) -> Marks:
    return () if news.diff is None and UPDATED in news.tags else _news_item(news).marks()


def _news_item(news: Draft | _StoryFields) -> NewsItem:
    if news.diff is None:
        return NewsItem("" if news.url == news.source_url else news.url, news.title, news.content)
    added = "\n".join((*news.diff.added, *(each.after for each in news.diff.changed)))
    return NewsItem("", "", added[:_MOST_READ])


_OURS = {Kind.NOTICE: "notice", Kind.HEARTBEAT: "heartbeat"}
MOST_MESSAGES = 512
PARKED = 2.0  # seconds between attempts while storage accepts no writes
REFUSAL_FOR = 120.0  # seconds to report a refusal: by then a sender has tried again, and a success has cleared it
FULL = "the disk is full, and nothing is recorded: free some room"
AWAY = "the storage does not answer, and nothing is recorded"
STUCK_AFTER = 3.0  # seconds in one commit after which the service is no longer ready; a lock times out after 5 or 10 s


class Recorder:
    """The only writer of the log. mailbox: belongs to the composition root."""

    def __init__(
        self,
        *,
        world: World,
        storage: Storage,
        signing: SigningKeys,
        base_url: str,
        mailbox: Mailbox[RecorderMessage],
        chance: random.Random,
    ) -> None:
        self._world, self._storage, self._mailbox, self._signing = world, storage, mailbox, signing
        self._base_url = base_url
        self._stories = SameStories()
        self._mint = Identifiers(world.now, chance.getrandbits)
        self._busy_since: float | None = None
        self._refusal: tuple[float, str] | None = None
        self._is_unavailable = False

    async def run(self, child: Child) -> None:
        """Commit batches until stopped; a graceful stop first commits all waiting messages."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wake_at_stop, child.stopping)
            child.ready()
            while not child.stopping.is_set():
                await self._commit(self._with_waiting([await self._receive()]))
            while batch := self._with_waiting([]):
                await self._commit(batch)

    async def _wake_at_stop(self, stopping: trio.Event) -> None:
        await stopping.wait()
        with contextlib.suppress(MailboxFull):  # full: it is about to be read anyway
            self._mailbox.send_nowait(SaveStates(()))

    async def _receive(self) -> RecorderMessage:
        """Wait for a message. While storage does not answer, test it with an empty one: no other actor writes."""
        with trio.move_on_after(PARKED if self._is_unavailable else float("inf")):
            return await self._mailbox.receive()
        return SaveStates(())

    def _with_waiting(self, batch: list[RecorderMessage]) -> list[RecorderMessage]:
        """Add all waiting messages, without waiting for more: the group of a group commit."""
        while len(batch) < MOST_MESSAGES:
            try:
                batch.append(self._mailbox.receive_nowait())
            except trio.WouldBlock:
                break
        return batch

    def fault(self) -> str:
        """Return the problem as a sentence, "" if healthy; the actor must make progress, not only run."""
        if self._refusal is not None and trio.current_time() - self._refusal[0] < REFUSAL_FOR:
            return self._refusal[1]
        since, waiting = self._busy_since, self._mailbox.statistics().depth
        stuck = 0.0 if since is None else trio.current_time() - since
        return f"no commit has ended for {stuck:.0f} s, and {waiting} messages wait" if stuck > STUCK_AFTER else ""

    async def _commit(self, batch: Sequence[RecorderMessage]) -> None:
        self._busy_since = trio.current_time()
        try:
            await self._write(batch)
        finally:
            self._busy_since = None

    async def _write(self, batch: Sequence[RecorderMessage]) -> None:
        records = [message for message in batch if isinstance(message, Record)]
        sweeps = [message for message in batch if isinstance(message, SaveStates)]
        states = [state for sweep in sweeps for state in sweep.states]
        jars = [jar for sweep in sweeps for jar in sweep.jars]
        self._world.reach("recorder/before commit")
        try:
            if records:
                await self._append(records)
            if states or jars or (self._is_unavailable and not records):
                await self._storage.log.save_states(states, self._storage.lease, jars)
            if self._refusal is not None and (records or states or jars or self._is_unavailable):
                self._refusal, self._is_unavailable = None, False
                self._world.log("recorder.goes_on")
            _notify_sweeps(sweeps, stored=True)
        except STANDSTILL as error:
            # The senders read the stored state and check again; readers are not affected.
            full = isinstance(error, DiskFull)
            event, reason = ("recorder.disk_full", FULL) if full else ("recorder.parked", f"{AWAY} ({error})")
            self._world.log(event, level="debug" if self._refusal else "error", error=str(error), harvests=len(records))
            self._refusal, self._is_unavailable = (trio.current_time(), reason), not full
            for record in records:
                record.reply.fail(error)
            _notify_sweeps(sweeps, stored=False)
            await trio.sleep(PARKED)
        except StorageError as error:
            for record in records:
                record.reply.fail(error)
            raise

    async def _append(self, records: Sequence[Record]) -> None:
        stamp, began = partial(self._stamp, await self._signing.signer()), trio.current_time()
        try:
            harvests, lease = [record.harvest for record in records], self._storage.lease
            answers = await self._storage.log.append(harvests, lease, self._mint, stamp, self._stories)
        except StorageError:
            raise
        except Exception as error:
            # A draft that cannot be encoded must not take the other sources' harvests with it.
            if len(records) == 1:
                only = records[0]
                self._world.log("recorder.harvest_refused", source_id=only.harvest.source, error=repr(error)[:300])
                only.reply.fail(error)
            else:
                for record in records:
                    await self._append([record])
            return
        self._world.reach("recorder/after commit")
        self._count(len(records), trio.current_time() - began, events_of(answers))
        self._world.observer.committed(records, answers, began)
        acknowledge(records, answers)

    def _count(self, harvests: int, seconds: float, events: Sequence[Stored]) -> None:
        metrics = self._world.metrics
        metrics.commit_size.observe(harvests)
        metrics.commit_time.observe(seconds)
        for event in events:
            if event.kind != Kind.PRACTICE:
                metrics.events.add(_OURS.get(event.kind) or tier_of(event.kind) or "other")

    def _stamp(self, signer: Signer, seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
        now = self._world.now()
        return signer.sign(build(event_id, source, draft, self._base_url, now), now)


def _notify_sweeps(sweeps: Sequence[SaveStates], *, stored: bool) -> None:
    for sweep in sweeps:
        if sweep.on_saved is not None:
            sweep.on_saved(stored)


def acknowledge(records: Sequence[Record], answers: Sequence[Answer]) -> None:
    for record, answer in zip(records, answers, strict=True):
        if isinstance(answer, StorageError):
            record.reply.fail(answer)
        else:
            record.reply.answer(answer)


SCHEMA_VERSION = 1
SCHEMA_PATH = "/schemas/stream-event/1.json"
_SAME = ("source_type", "source_url", "url", "title", "author", "content", "content_hash", "simhash", "tags")
_OPTIONAL = ("content_truncated", "diff", "delta", "changes", "unread", "alert_type", "heartbeat")


def build(event_id: str, source: SourceId, draft: Draft, base_url: str, now: Millis) -> Event:
    """Build an event. base_url: without a final slash. `emitted_at` is now, but never before `fetched_at`: the clock
    may have stepped back between the check and the commit.
    """
    values: dict[str, Any] = {name: getattr(draft, name) for name in _SAME}
    values |= {name: getattr(draft, name) or UNSET for name in _OPTIONAL}
    return Event(  # `made_of` takes twice as long
        schema=base_url + SCHEMA_PATH,
        id=event_id,
        source_id=source,
        summary=draft.summary or of_text(draft.title, draft.content, draft.url, draft.source_url),
        published_at=None if draft.published_at is None else rfc3339(draft.published_at),
        fetched_at=rfc3339(draft.fetched_at),
        emitted_at=rfc3339(max(now, draft.fetched_at)),
        schema_version=SCHEMA_VERSION,
        **values,
        story=(draft.story or event_id) if draft.alert_type is None else UNSET,
    )


_TAIL_BITS = 59
_FRESH_BITS = 8


class Identifiers:
    """Mints positions and ids, in the engine's transaction and so in the order of commits. `bits(n)`: n random bits."""

    def __init__(self, now: Callable[[], Millis], bits: Callable[[int], int]) -> None:
        self._now, self._bits = now, bits
        self._last: Seq = START

    def raise_floor(self, floor: Seq) -> None:
        self._last = max(self._last, floor)

    def mint(self) -> tuple[Seq, str]:
        now = self._now()
        if now > self._last >> COUNTER_BITS:
            self._last = Seq(now << COUNTER_BITS | self._bits(_FRESH_BITS))
        else:
            self._last = Seq(self._last + 1)
        return self._last, id_of(self._last, self._bits(_TAIL_BITS))
