"""The hub: verify subscription requests with their callbacks, follow the log, post new events to all subscribers.

A request queues twice: to resolve the callback's name, and to call it.

On each change of the log, the hub updates every publication with subscribers, from memory, and queues the subscribers
whose cursor is behind. Workers post everything between cursor and head, a page of events at a time. Proven subscribers
(2xx) have most of the workers, new ones some, slow or failing ones few; only these few wait longer than 3 s for an
answer. All queues serve domains and addresses in turn. Progress is stored at most a quarter of a second later; after a
crash within that time, a subscriber gets the same events again under the same ids.

The address of the hub: POST of a form, without a key. Anyone who knows a feed's address may subscribe to it.

Subscriptions to the feeds of publications (WebSub): the records, and their store in SQL. A subscription's table is
among the product's, and its secret among the sealed ones.

A queue that serves domains and addresses in turn, so that one with a thousand items delays the others by one.
Start-time fair queueing (Goyal, Vin and Cheng, 1996) with items of equal size: an item gets the round after its keys'
last one, and lower rounds go first. Of several keys, the busiest counts.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.app_context import AppContext
from actors.delivery.schedule import ATTEMPTS, wait
from actors.destination_kinds.bins import Bins
from actors.destination_kinds.contract import Answer
from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.traffic import NetworkTransport, network_transport
from actors.egress.url import parse_url
from actors.errors import DomainError, UrlRefused
from actors.settings import parsed
from api.application import Application
from api.endpoint import Arrived, Endpoint, EndpointReply
from api.problems import Refusal
from api.ratelimit import Limiter, neighbourhood
from api.streams.streams import Streams
from extras.publish.endpoint import PublicationEndpoint, PublicCall
from extras.publish.formats import FORMATS
from extras.publish.newest import FeedPlace, NewestEvents, NewestPage, feed_of
from extras.publish.operations import HUB, PATH
from extras.publish.settings import PublishSettings
from storage.errors import StorageError
from storage.records.identity import START, Millis, Seq
from storage.records.publication import Publication, hash_of
from storage.secrets import SUBSCRIPTIONS, Vault
from storage.sql.storage import Storage
from storage.sql.writing import Transaction, every_row, first_row, write_each
from supervision import Child, ChildSpec, Mailbox, MailboxFull

MOST_SUBSCRIPTIONS = 20_000


class Subscription(Struct, frozen=True):
    """token_hash: of the subscribed address. ending: the format. secret: signs its requests, None for none."""

    id: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    created_at: Millis
    expires_at: Millis
    secret: str | None = None

    def __repr__(self) -> str:
        """Leave out the secret and the callback, which may grant access."""
        return f"Subscription({self.id!r})"


class Progress(NamedTuple):
    """cursor: up to it all is sent or given up. attempts: failures since. due_at: next. error: of the last, or ""."""

    id: str
    cursor: Seq
    attempts: int = 0
    due_at: Millis = Millis(0)
    error: str = ""


class Subscriber(NamedTuple):
    """A subscription and its progress."""

    subscription: Subscription
    progress: Progress


_decode_subscription = msgspec.json.Decoder(Subscription).decode
_READ = "SELECT body, sealed, id, cursor, attempts, due_at, error FROM subscription"
_ALL_SUBSCRIPTIONS = _READ + " ORDER BY id"
_SAME = _READ + " WHERE publication=? AND ending=? AND callback=?"
_STANDS = "SELECT 1 FROM publication WHERE id=? AND token_hash=?"
_ADD = """INSERT INTO subscription(
        id, publication, ending, callback, token_hash, body, sealed, cursor, attempts, due_at, error
    ) VALUES(?,?,?,?,?,?,?,?,0,0,'')"""
_RENEW = "UPDATE subscription SET body=?, sealed=? WHERE id=?"
_ADVANCE = "UPDATE subscription SET cursor=?, attempts=?, due_at=?, error=? WHERE id=?"
_Row = tuple[bytes, bytes | None, str, int, int, int, str]


class Subscriptions:
    """Subscriptions with their subscribers' progress. They are deleted with their publication's address."""

    def __init__(self, storage: Storage) -> None:
        self._writer, self._readers, self._vault = storage.writer, storage.readers, storage.vault

    async def put(self, subscription: Subscription, cursor: Seq) -> Subscriber | None:
        """Add events after `cursor`, or renew one's callback and feed; None if the address is gone."""

        def job(transaction: Transaction) -> Subscriber | None:
            where = (subscription.publication, subscription.ending, subscription.callback)
            if transaction.execute(_STANDS, (subscription.publication, subscription.token_hash)).fetchone() is None:
                return None
            row = transaction.execute(_SAME, where).fetchone()
            if row is None:
                body, box = _packed(subscription, transaction.vault)
                transaction.execute(_ADD, (subscription.id, *where, subscription.token_hash, body, box, cursor))
                return Subscriber(subscription, Progress(subscription.id, cursor))
            there = _subscriber(row, transaction.vault)
            renewed = replace(subscription, id=there.progress.id, created_at=there.subscription.created_at)
            transaction.execute(_RENEW, (*_packed(renewed, transaction.vault), renewed.id))
            return Subscriber(renewed, there.progress)

        return await self._writer.submit(job)

    async def end(self, ids: Sequence[str]) -> None:
        await write_each(self._writer, "DELETE FROM subscription WHERE id=?", [(id,) for id in sorted(ids)])

    async def all(self) -> Sequence[Subscriber]:
        return [_subscriber(row, self._vault) for row in await every_row(self._readers, _ALL_SUBSCRIPTIONS)]

    async def count(self, publication_id: str) -> int:
        query = "SELECT count(*) FROM subscription WHERE publication=?"
        return int((await first_row(self._readers, query, publication_id))[0])

    async def advance(self, steps: Sequence[Progress]) -> None:
        rows = [(step.cursor, step.attempts, step.due_at, step.error, step.id) for step in steps]
        await write_each(self._writer, _ADVANCE, rows)


def _packed(subscription: Subscription, vault: Vault) -> tuple[bytes, bytes | None]:
    secret = subscription.secret
    box = None if secret is None else vault.seal(SUBSCRIPTIONS.kind, subscription.id, secret.encode())
    return msgspec.json.encode(replace(subscription, secret=None)), box


def _subscriber(row: _Row, vault: Vault) -> Subscriber:
    body, box, id, cursor, attempts, due_at, error = row
    record = _decode_subscription(body)
    if box is not None:
        record = replace(record, secret=vault.open(SUBSCRIPTIONS.kind, id, box).decode())
    return Subscriber(record, Progress(id, Seq(cursor), attempts, Millis(due_at), error))


T = TypeVar("T")
WISHES = 1_000  # subscription requests that may wait in the mailbox
SPARE = 1_000  # keys of past rounds to keep before a sweep


@dataclass(frozen=True, slots=True)
class Intent:
    """topic: the feed's URL, with the rest. lease: seconds. secret: None without one. client: network address."""

    mode: Literal["subscribe", "unsubscribe"]
    topic: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    lease: int
    secret: str | None
    client: str

    def __repr__(self) -> str:
        """Show the request without its URLs, which are credentials, and its secret."""
        return f"Intent({self.mode!r}, {self.publication!r}, {self.ending!r})"


def mailbox_of(context: AppContext) -> Mailbox[Intent]:
    return context.mailboxes.setdefault("hub", Mailbox("hub", WISHES))


class RoundQueue(Generic[T]):
    """The queue. It holds `most` items; when full, it drops the one in the last round."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, int, T, tuple[str, ...]]] = []
        self._rounds: dict[str, int] = {}
        self._round, self._number = 0, count()
        self._filled = trio.Semaphore(0)

    def __len__(self) -> int:
        return len(self._heap)

    def put_nowait(self, thing: T, keys: tuple[str, ...]) -> None:
        place = max(self._round, *(self._rounds.get(key, -1) + 1 for key in keys))
        heappush(self._heap, (place, next(self._number), thing, keys))
        self._rounds.update(dict.fromkeys(keys, place))
        if len(self._heap) > self._most:
            self._heap.remove(max(self._heap))
            heapify(self._heap)
        else:
            self._filled.release()

    async def get(self) -> tuple[T, tuple[str, ...]]:
        """Wait for the next item and return it with its keys. If cancelled, nothing is taken."""
        await self._filled.acquire()
        self._round, _, thing, keys = heappop(self._heap)
        if len(self._rounds) > 2 * len(self._heap) + SPARE:
            self._rounds = {key: place for key, place in self._rounds.items() if place >= self._round}
        return thing, keys


def domain_of(host: str) -> str:
    """Return the domain that a host's owner probably registered, or the network of an address.

    Without a list of public suffixes: two labels, or three below short second-level labels of countries.

    >>> [domain_of(host) for host in ("a.b.example.org", "in.example.co.uk", "93.184.216.34", "2001:db8::7")]
    ['example.org', 'example.co.uk', '93.184.216.34', '2001:db8::']
    """
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit():
        return neighbourhood(host)
    return ".".join(labels[-3 if len(labels[-1]) == 2 and len(labels[-2:][0]) <= 3 else -2 :])


MOST_OF_ONE = 1_000  # subscriptions per domain, per callback address, and per client
QUICK, NEW, SLOW, CONFIRMING = 96, 64, 32, 32
"""Workers for proven subscribers, new ones, slow or failing ones, and subscription requests."""
WAITING = 1_000  # subscription requests in the queue
TOO_SLOW = 1.0  # seconds after which a subscriber counts as slow; a new one gets no more while others wait
PATIENCE = 3.0  # seconds for a challenge, for resolving a name, and for a subscriber that is not slow
GATHER = 0.2  # seconds of new events to gather into one post
SAVE = 0.25  # seconds between two commits of progress
AT_ONCE = 1_000  # subscribers per commit
CLOSE_GRACE = 5.0  # seconds for open connections to close
AGAIN = 5.0  # seconds until a retry after a failure of the storage or this machine's network
PATROL = 60.0  # seconds between two checks for expired leases
HUB_KEY = "hub"  # of the members: one node posts to all subscribers
CHALLENGE = 24  # random bytes in a challenge
SCHEMES = ("http", "https")
DOCUMENTS = 16  # documents to cache. Most subscribers of a feed have the same cursor and get the same bytes.


class _Reader:
    """A subscriber. keys: those it counts under. queued: or being posted to. proven: has answered 2xx."""

    __slots__ = ("keys", "progress", "proven", "queued", "slow", "subscription")

    def __init__(self, subscriber: Subscriber, keys: tuple[str, ...]) -> None:
        (self.subscription, self.progress), self.keys = subscriber, keys
        self.queued = self.slow = self.proven = False


class _Topic:
    """A publication and its subscribers. newest: as last read."""

    __slots__ = ("newest", "publication", "readers")

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self.readers: dict[str, _Reader] = {}
        self.newest: NewestPage | None = None


class _Document(NamedTuple):
    """A document to post. upto: the subscriber's cursor after it."""

    body: bytes
    media: str
    upto: Seq


class Hub:
    """The actor. Its mailbox is `mailbox_of`. outlet: the way to callbacks, whose addresses strangers choose."""

    def __init__(self, context: AppContext, outlet: NetworkTransport) -> None:
        self._context, self._world, self._outlet = context, context.world, outlet
        self._store = Subscriptions(context.storage)
        self._publications = context.storage.publications
        base = context.settings.public_url()
        self._base, self._hub = f"{base}{PATH}", f"{base}{HUB}"
        streams = Streams(context.storage, context.settings, None, context.world.jail)
        self._newest = NewestEvents(PublicCall(context, streams, Limiter(), ""))
        self._chance = context.world.chance("hub")

    def __repr__(self) -> str:
        return f"<Hub at {HUB}>"

    async def run(self, child: Child) -> None:
        self._topics: dict[str, _Topic] = {}
        self._counts: Counter[str] = Counter()
        self._documents: OrderedDict[tuple[str, str, Seq, str], _Document] = OrderedDict()
        self._told: dict[str, Progress] = {}
        self._wake, self._unsaved = trio.Event(), trio.Event()
        # A reader is queued once, but one that has ended may still be in the queue.
        self._quick, self._new, self._slow = (RoundQueue[_Reader](2 * MOST_SUBSCRIPTIONS) for _ in range(3))
        self._wishes = RoundQueue[Intent](WAITING)
        while True:
            try:
                for subscriber in await self._store.all():
                    await self._know(subscriber)
                break
            except StorageError as error:
                self._world.log("hub.parked", error=str(error))
                await trio.sleep(AGAIN)
        child.ready()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen)
            nursery.start_soon(self._follow)
            nursery.start_soon(self._save)
            nursery.start_soon(self._take_in)
            for _ in range(CONFIRMING):
                nursery.start_soon(self._confirm)
            for queue, workers in ((self._quick, QUICK), (self._new, NEW), (self._slow, SLOW)):
                for _ in range(workers):
                    nursery.start_soon(self._work, queue)

    # --- subscription requests -----------------------------------------------------------------------------------

    async def _take_in(self) -> None:
        while True:
            intent = await mailbox_of(self._context).receive()
            self._wishes.put_nowait(intent, self._keys(intent.callback)[:1])

    async def _confirm(self) -> None:
        while True:
            intent, keys = await self._wishes.get()
            try:
                if len(keys) == 1:
                    with trio.fail_after(PATIENCE):
                        await self._outlet.dial.check(parse_url(intent.callback, schemes=SCHEMES))
                    self._wishes.put_nowait(intent, self._keys(intent.callback))
                else:
                    await self._obey(intent)
            except (StorageError, DomainError, CheckFailed, trio.TooSlowError) as error:
                self._world.log("hub.not_subscribed", why=str(error) or "the name did not resolve in time")

    async def _obey(self, intent: Intent) -> None:
        """Verify a request with its callback, then carry it out."""
        there = self._reader_of(intent)
        if intent.mode == "unsubscribe" and there is None:
            return  # nothing to end, so do not call anyone
        if intent.mode == "subscribe" and there is None and (why := self._no_room(intent)):
            asked = {"hub.mode": "denied", "hub.topic": intent.topic, "hub.reason": why}
            await self._get(intent.callback, asked)
            self._world.log("hub.denied", why=why)
            return
        challenge = urlsafe_b64encode(self._world.entropy(CHALLENGE)).decode()
        asked = {"hub.mode": intent.mode, "hub.topic": intent.topic, "hub.challenge": challenge}
        if intent.mode == "subscribe":
            asked["hub.lease_seconds"] = str(intent.lease)
        said = await self._get(intent.callback, asked)
        if said is None or not 200 <= said.status < 300 or said.body.strip() != challenge.encode():
            self._world.log("hub.unconfirmed", mode=intent.mode, status=None if said is None else said.status)
            return
        if intent.mode == "subscribe":
            await self._subscribe(intent)
        elif (there := self._reader_of(intent)) is not None:
            await self._end([there])
        self._world.log("hub.confirmed", mode=intent.mode, publication=intent.publication)

    async def _subscribe(self, intent: Intent) -> None:
        now = self._world.now()
        wished = Subscription(
            id=self._world.new_id(),
            publication=intent.publication,
            token_hash=intent.token_hash,
            ending=intent.ending,
            callback=intent.callback,
            created_at=now,
            expires_at=Millis(now + 1000 * intent.lease),
            secret=intent.secret,
        )
        subscriber = await self._store.put(wished, self._context.storage.tail.head)
        if subscriber is not None:
            await self._know(subscriber, intent.client)
            self._wake.set()

    def _reader_of(self, intent: Intent) -> _Reader | None:
        topic, of = self._topics.get(intent.publication), (intent.ending, intent.callback)
        readers = topic.readers.values() if topic else ()
        return next((each for each in readers if (each.subscription.ending, each.subscription.callback) == of), None)

    def _no_room(self, intent: Intent) -> str:
        if sum(len(topic.readers) for topic in self._topics.values()) >= MOST_SUBSCRIPTIONS:
            return "there are as many subscriptions as this hub takes"
        if any(self._counts[key] >= MOST_OF_ONE for key in self._keys(intent.callback, intent.client)):
            return "this host, its domain or its client has as many subscriptions as it may have here"
        return ""

    def _keys(self, callback: str, client: str = "") -> tuple[str, ...]:
        """Return the keys that a subscription counts under: its domain, its last known address, its client."""
        host = urlsplit(callback).hostname or callback
        at = neighbourhood(self._outlet.last_address(host))
        return (domain_of(host), f"at {at}", *((f"for {client}",) if client else ()))

    async def _get(self, callback: str, asked: dict[str, str]) -> PostResult | None:
        """Call a callback; return None without an answer."""
        joint = "&" if urlsplit(callback).query else "?"
        why = f"no answer within {PATIENCE:g} s"
        try:
            with trio.move_on_after(PATIENCE):
                return await self._send(f"{callback}{joint}{urlencode(asked)}", {}, b"", "GET")
        except (CheckFailed, UrlRefused, ValueError) as error:
            why = str(error)
        self._world.log("hub.unanswered", why=why)
        return None

    async def _send(self, address: str, headers: dict[str, str], body: bytes, method: PostMethod) -> PostResult:
        """Raises CheckFailed, UrlRefused."""
        url = parse_url(address, schemes=SCHEMES)
        outlet = self._outlet
        return await (outlet.deliver if url.secure else outlet.deliver_plain).post(url, headers, body, method)

    # --- subscribers ---------------------------------------------------------------------------------------------

    async def _know(self, subscriber: Subscriber, client: str = "") -> None:
        """Add or update a subscriber. Raises StorageError."""
        subscription = subscriber.subscription
        topic, hashed = self._topics.get(subscription.publication), subscription.token_hash
        if topic is None or topic.publication.token_hash != hashed:
            publication = await self._publications.get(subscription.publication)
            if publication is None or publication.token is None or publication.token_hash != hashed:
                return  # deleted in the meantime, with its rows
            topic = self._topics.get(publication.id)  # it may have come in the meantime, with another subscriber
            if topic is not None and topic.publication.token_hash != hashed:
                self._forget(topic)
            topic = self._topics.setdefault(publication.id, _Topic(publication))
        if (reader := topic.readers.get(subscription.id)) is not None:
            reader.subscription = subscription
            return
        reader = topic.readers[subscription.id] = _Reader(subscriber, self._keys(subscription.callback, client))
        self._counts.update(reader.keys)

    def _forget(self, topic: _Topic) -> None:
        for reader in list(topic.readers.values()):
            self._drop(topic, reader)
        if self._topics.get(topic.publication.id) is topic:  # else one with a new address has replaced it
            del self._topics[topic.publication.id]

    def _drop(self, topic: _Topic, reader: _Reader) -> None:
        if topic.readers.pop(reader.subscription.id, None) is not None:
            self._counts.subtract(reader.keys)
            for key in reader.keys:
                if not self._counts[key]:
                    del self._counts[key]
        self._told.pop(reader.subscription.id, None)

    async def _end(self, readers: Sequence[_Reader]) -> None:
        await self._store.end([reader.subscription.id for reader in readers])
        for reader in readers:
            topic = self._topics.get(reader.subscription.publication)
            if topic is not None:
                self._drop(topic, reader)

    # --- new events ----------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        head = START
        while True:
            if not self._context.storage.ownership.owns(HUB_KEY):
                await trio.sleep(AGAIN)
                continue
            head = await self._context.storage.tail.wait_past(head)
            self._wake.set()

    async def _follow(self) -> None:
        was_mine = False
        while True:
            self._wake = trio.Event()
            pause = PATROL
            mine = self._context.storage.ownership.owns(HUB_KEY)
            if self._context.storage.ownership.shared:
                # Another node ran the hub until now and has made progress.
                await self._read_others(progress=not (mine and was_mine))
                pause = AGAIN
            was_mine = mine
            if not mine:
                await trio.sleep(AGAIN)
                continue
            for topic in list(self._topics.values()):
                try:
                    pause = min(pause, await self._level(topic))
                except (StorageError, DomainError, trio.TooSlowError) as error:
                    self._world.log("hub.behind", publication=topic.publication.id, error=str(error)[:200])
                    pause = min(pause, AGAIN)
                await trio.lowlevel.checkpoint()
            with trio.move_on_after(pause):
                await self._wake.wait()
            await trio.sleep(GATHER)

    async def _read_others(self, *, progress: bool) -> None:
        """Load changes by other nodes: any node verifies requests, but one posts (its `progress` counts)."""
        try:
            stored = {subscriber.subscription.id: subscriber for subscriber in await self._store.all()}
            for subscriber in stored.values():
                await self._know(subscriber)
        except StorageError as error:
            self._world.log("hub.behind", error=str(error))
            return
        for topic in list(self._topics.values()):
            for reader in list(topic.readers.values()):
                there = stored.get(reader.subscription.id)
                if there is None:
                    self._drop(topic, reader)
                elif progress:
                    reader.progress = there.progress

    async def _level(self, topic: _Topic) -> float:
        """Queue those behind; return seconds to the next. Raises NotFound, Overloaded, StorageError, TooSlowError."""
        published = await self._publications.by_hash(topic.publication.token_hash)
        if published is None:
            self._forget(topic)
            return PATROL
        topic.publication = replace(published.publication, token=topic.publication.token)
        topic.newest = None
        if topic.publication.has_ended(self._world.now()):
            return PATROL
        topic.newest = await self._newest.of(published)
        head, now, pause = _head(topic.newest), self._world.now(), PATROL
        over = []
        for reader in topic.readers.values():
            if reader.subscription.expires_at <= now:
                over.append(reader)
            elif reader.progress.cursor < head and not reader.queued:
                left = (reader.progress.due_at - now) / 1000
                if left > 0:
                    pause = min(pause, left)
                    continue
                reader.queued = True
                failed = reader.slow or reader.progress.attempts
                lane = self._slow if failed else self._quick if reader.proven else self._new
                lane.put_nowait(reader, self._keys(reader.subscription.callback))
        if over:
            await self._end(over)
            self._world.log("hub.leases_ended", count=len(over))
        return pause

    async def _work(self, queue: RoundQueue[_Reader]) -> None:
        while True:
            reader, _ = await queue.get()
            try:
                await self._tell(reader, self._patience(queue))
            except (StorageError, DomainError) as error:
                self._world.log("hub.behind", publication=reader.subscription.publication, error=str(error)[:200])
            finally:
                reader.queued = False
            topic = self._topics.get(reader.subscription.publication)
            if topic and topic.newest and reader.progress.cursor < _head(topic.newest):
                self._wake.set()  # there is more, or it failed and is due later

    def _patience(self, queue: RoundQueue[_Reader]) -> float:
        """Return the seconds for a request. For slow subscribers the outlet sets the limit."""
        return inf if queue is self._slow else TOO_SLOW if queue is self._new and len(queue) else PATIENCE

    async def _tell(self, reader: _Reader, patience: float) -> None:
        topic = self._topics.get(reader.subscription.publication)
        if topic is None or topic.newest is None or reader.subscription.id not in topic.readers:
            return
        if not self._context.storage.ownership.owns(HUB_KEY):
            return
        document = await self._document(topic, topic.newest, reader)
        if not document.body:
            self._advance(reader, Progress(reader.subscription.id, document.upto))
            return
        began = trio.current_time()
        answer = Answer(None, 0, f"no answer within {patience:g} s")
        with trio.move_on_after(patience):
            answer = await self._post(topic, reader.subscription, document)
        reader.slow = trio.current_time() - began > TOO_SLOW
        if answer.delivered:
            reader.proven = True
            self._advance(reader, Progress(reader.subscription.id, document.upto))
        elif answer.gone:
            self._world.log("hub.unsubscribed", publication=topic.publication.id, why="it answered 410")
            await self._end([reader])
        else:
            self._advance(reader, self._failed(reader, answer, document.upto))

    def _failed(self, reader: _Reader, answer: Answer, upto: Seq) -> Progress:
        """Return a subscriber's progress after a failed request: retry later, or give up and skip the document."""
        before, now, error = reader.progress, self._world.now(), (answer.error or "")[:200]
        if answer.ours:
            return before._replace(due_at=Millis(now + round(1000 * AGAIN)), error=error)
        attempts = before.attempts + 1
        if attempts < ATTEMPTS:
            later = wait(answer, attempts, self._chance.random())
            return Progress(before.id, before.cursor, attempts, Millis(now + round(1000 * later)), error)
        self._world.log("hub.gave_up", publication=reader.subscription.publication, error=error)
        return Progress(before.id, upto, 0, now, error)

    async def _document(self, topic: _Topic, newest: NewestPage, reader: _Reader) -> _Document:
        """Return the next document for a subscriber. A newest page in JSON Feed always goes out whole."""
        ending, cursor = reader.subscription.ending, reader.progress.cursor
        key = (topic.publication.id, ending, cursor, newest.tag)
        found = self._documents.get(key)
        if found is None:
            page, upto, body = newest.page, _head(newest), b""
            if page.older is not None and cursor + 1 < page.older:
                page, end = await self._newest.after(topic.publication, cursor)
                upto = end or max(upto, page.events[0].seq if page.events else START)
            new = [event for event in page.events if event.seq > cursor]
            if new:
                page = page if ending == "json" else page._replace(events=new)
                base = f"{self._base}{topic.publication.token}"
                body = await feed_of(self._world, topic.publication, page, FeedPlace(base, self._hub, ending))
            found = self._documents[key] = _Document(body, FORMATS[ending].media, upto)
            while len(self._documents) > DOCUMENTS:
                self._documents.popitem(last=False)
        return found

    async def _post(self, topic: _Topic, subscription: Subscription, document: _Document) -> Answer:
        address = f"{self._base}{topic.publication.token}.{subscription.ending}"
        headers = {"Content-Type": document.media, "Link": f'<{self._hub}>; rel="hub", <{address}>; rel="self"'}
        if subscription.secret is not None:
            signature = hmac.digest(subscription.secret.encode(), document.body, "sha256").hex()
            headers["X-Hub-Signature"] = f"sha256={signature}"
        try:
            posted = await self._send(subscription.callback, headers, document.body, "POST")
        except CheckFailed as error:
            return Answer(None, 0, error.reason, ours=error.blame is Blame.LOCAL)
        except UrlRefused as error:
            return Answer(None, 0, error.words)
        reason = None if 200 <= posted.status < 300 else f"HTTP {posted.status}"
        return Answer(posted.status, posted.latency_ms, reason, posted.retry_after)

    # --- progress ------------------------------------------------------------------------------------------------

    def _advance(self, reader: _Reader, progress: Progress) -> None:
        reader.progress = progress
        self._told[progress.id] = progress
        self._unsaved.set()

    async def _save(self) -> None:
        while True:
            await self._unsaved.wait()
            await trio.sleep(SAVE)
            self._unsaved = trio.Event()
            steps = list(self._told.values())
            for first in range(0, len(steps), AT_ONCE):
                some = steps[first : first + AT_ONCE]
                try:
                    await self._store.advance(some)
                except StorageError as error:
                    self._world.log("hub.unsaved", error=str(error))
                    self._unsaved.set()
                    await trio.sleep(AGAIN)
                    break
                for step in some:
                    if self._told.get(step.id) is step:
                        del self._told[step.id]


def _head(newest: NewestPage) -> Seq:
    return newest.page.events[0].seq if newest.page.events else START


def children(context: AppContext) -> Sequence[ChildSpec]:
    opened = parsed(context.settings.of(PublishSettings).hub_networks)
    way = network_transport(context.world, context.settings, opened, "HUB_NETWORKS")
    hub = Hub(context, way)

    async def run(child: Child) -> None:
        try:
            await hub.run(child)
        finally:
            with trio.move_on_after(CLOSE_GRACE, shield=True):
                await way.aclose()

    return (ChildSpec("hub", run=run, ready_within=30.0, mailbox=mailbox_of(context)),)


MOST_BYTES = 8 << 10
LONGEST_CALLBACK = 2_048
LONGEST_SECRET = 199  # bytes (WebSub, 5.1: fewer than 200)
SHORTEST_LEASE, LONGEST_LEASE, USUAL_LEASE = 60, 30 * 86_400, 10 * 86_400
_FORM = "application/x-www-form-urlencoded"


class HubEndpoint(Endpoint):
    """The application of the hub's address."""

    path, name = HUB, "the hub"
    harmless: ClassVar[Mapping[str, str]] = {"content-security-policy": "default-src 'none'"}

    async def reply(self, request: Arrived) -> EndpointReply:
        """Answer 202 if the hub will call the callback. Raises Refusal, UrlRefused, StorageError."""
        if request.scope["method"] != "POST":
            raise Refusal("method-not-allowed", "The hub takes POST of a form.", headers={"Allow": "POST"})
        if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != _FORM:
            raise Refusal("unsupported-media-type", f"The hub takes {_FORM}.")
        await self._accept(fields_of(await request.body(MOST_BYTES)), request.peer)
        return EndpointReply(202, "text/plain; charset=utf-8", b"The callback is asked.\n")

    async def _accept(self, fields: Mapping[str, str], client: str) -> None:
        """Queue a request for verification. Raises Refusal, UrlRefused, StorageError."""
        intent = await self._intent(fields, client)
        try:
            mailbox_of(self._api.context).send_nowait(intent)
        except MailboxFull:
            raise Refusal("unavailable", "The hub is busy.", headers={"Retry-After": "30"}) from None

    async def _intent(self, fields: Mapping[str, str], client: str) -> Intent:
        mode: Literal["subscribe", "unsubscribe"]
        match fields.get("hub.mode"):
            case "subscribe":
                mode = "subscribe"
            case "unsubscribe":
                mode = "unsubscribe"
            case _:
                raise _wrong("hub.mode must be subscribe or unsubscribe")
        topic = fields.get("hub.topic", "")
        found = re.fullmatch(rf"{re.escape(self._api.base_url + PATH)}([\w-]+)\.([a-z]+)", topic)
        if found is None or found[2] not in FORMATS:
            raise _wrong("hub.topic must be the address of a feed of this service, as in its link rel=self")
        hashed = hash_of(found[1])
        published = await self._api.context.storage.publications.by_hash(hashed)
        if published is None or published.publication.has_ended(self._api.context.world.now()):
            raise _wrong("There is no feed at hub.topic: the address is wrong or withdrawn")
        secret = fields.get("hub.secret") or None
        if secret is not None and len(secret.encode()) > LONGEST_SECRET:
            raise _wrong(f"hub.secret has at most {LONGEST_SECRET} bytes")
        return Intent(
            mode,
            topic,
            published.publication.id,
            hashed,
            found[2],
            self._callback(fields.get("hub.callback", "")),
            _lease(fields.get("hub.lease_seconds")),
            secret,
            client,
        )

    def _callback(self, text: str) -> str:
        """Raises Refusal, UrlRefused, by the text alone: names or networks are not for strangers."""
        if not text or len(text) > LONGEST_CALLBACK:
            raise _wrong(f"hub.callback must be an address of at most {LONGEST_CALLBACK} characters")
        if "#" in text:
            raise _wrong("hub.callback must have no fragment")
        context = self._api.context
        url = parse_url(text, schemes=("http", "https"))
        if Bins(context.world, context.storage, self._api.base_url).is_own(url):
            raise UrlRefused("url-loop", f"{url.origin} is this service itself")
        return url.text


def endpoints(api: Application) -> Sequence[Endpoint]:
    return HubEndpoint(api), PublicationEndpoint(api)


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form; the last value of each name counts. Raises Refusal (400)."""
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))
    except ValueError:
        raise _wrong("The form must be percent-encoded UTF-8") from None


def _lease(text: str | None) -> int:
    if text is None or text == "":
        return USUAL_LEASE
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise _wrong("hub.lease_seconds must be a number of seconds above 0")
    return min(max(int(text), SHORTEST_LEASE), LONGEST_LEASE)


def _wrong(detail: str) -> Refusal:
    return Refusal("invalid-request", f"{detail}.")
