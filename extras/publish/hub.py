"""The hub: verify subscription requests with their callbacks, follow the log, post new events to all subscribers.

A request queues twice: to resolve the callback's name, and to call it.

On each change of the log, the hub updates every publication with subscribers, from memory, and queues the subscribers
whose cursor is behind. Workers post everything between cursor and head, a page of events at a time. Proven subscribers
(2xx) have most of the workers, new ones some, slow or failing ones few; only these few wait longer than 3 s for an
answer. All queues serve domains and addresses in turn. Progress is stored at most a quarter of a second later; after a
crash within that time, a subscriber gets the same events again under the same ids.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import Sequence
from math import inf
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import trio
from msgspec.structs import replace

from actors.app_context import AppContext
from actors.delivery.schedule import ATTEMPTS, wait
from actors.destination_kinds.answer import Answer
from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.traffic import NetworkTransport, network_transport
from actors.egress.url import parse_url
from actors.errors import DomainError, UrlRefused
from actors.settings import parsed
from api.ratelimit import Limiter, neighbourhood
from api.streams.streams import Streams
from extras.publish.documents import FeedPlace, feed_of
from extras.publish.endpoint import PublicCall
from extras.publish.formats import FORMATS
from extras.publish.newest import NewestEvents, NewestPage
from extras.publish.operations import HUB, PATH
from extras.publish.settings import PublishSettings
from extras.publish.subscriptions import MOST_SUBSCRIPTIONS, Progress, Subscriber, Subscription, Subscriptions
from extras.publish.turns import Intent, RoundQueue, domain_of, mailbox_of
from storage.errors import StorageError
from storage.records.identity import START, Millis, Seq
from storage.records.publication import Publication
from supervision import Child, ChildSpec

MOST_OF_ONE = 1_000
"""Subscriptions per domain, per callback address, and per client."""
QUICK, NEW, SLOW, CONFIRMING = 96, 64, 32, 32
"""Workers for proven subscribers, new ones, slow or failing ones, and subscription requests."""
WAITING = 1_000
"""Subscription requests in the queue."""
TOO_SLOW = 1.0
"""Seconds after which a subscriber counts as slow; a new one gets no more while others wait."""
PATIENCE = 3.0
"""Seconds for a challenge, for resolving a name, and for a subscriber that is not slow."""
GATHER = 0.2
"""Seconds of new events to gather into one post."""
SAVE = 0.25
"""Seconds between two commits of progress."""
AT_ONCE = 1_000
"""Subscribers per commit."""
CLOSE_GRACE = 5.0
"""Seconds for open connections to close."""
AGAIN = 5.0
"""Seconds until a retry after a failure of the storage or this machine's network."""
PATROL = 60.0
"""Seconds between two checks for expired leases."""
HUB_KEY = "hub"
"""Of the members: one node posts to all subscribers."""
CHALLENGE = 24
"""Random bytes in a challenge."""
SCHEMES = ("http", "https")
DOCUMENTS = 16
"""Documents to cache. Most subscribers of a feed have the same cursor and get the same bytes."""


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
