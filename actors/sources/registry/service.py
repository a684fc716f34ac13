"""The registry's changes to the set of sources: add, edit, teach, delete, restore, check now.

The defaults of tags for all sources of this node: read at the start, and after each change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import trio
from msgspec.structs import replace

from actors.content.messages import FORMATS, KeysRequest, not_chosen_by
from actors.destination_kinds.kind import check_named, of_source
from actors.egress.failures import CheckFailed
from actors.egress.url import Url, parse_url
from actors.errors import Conflict, DomainError, LibraryFull, NotFound, Overloaded, Stale, Unprocessable
from actors.inheritance import OTHER_PART
from actors.messages.requests import NewSource, SourcePatch, defaults_of
from actors.messages.sources import AddSource, SetTagDefaults, Teach
from actors.messages.views import AddedSource, SourceView, TeachResult
from actors.messages.workers import Record
from actors.sources import detection as pending
from actors.sources.checks import progress
from actors.sources.checks.fetch import BodyCheck, host_of, in_jail
from actors.sources.checks.rendering import screenshot_to_store
from actors.sources.detection import Classification, classify, classify_request, domain_error, with_title
from actors.sources.index import SourceIndex, from_storage, with_record
from actors.sources.ordering import KeyedLocks
from actors.sources.page import PagePart, check_selectors, no_match_text, preview_page
from actors.sources.polling import first_state
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.registry.previewer import access_for, cookie_key
from actors.sources.registry.validation import check_hours, check_rendering, check_settings, naming_tags, settings_from
from actors.sources.schedule.cadence import START_INTERVAL
from storage.errors import Duplicate, StateMoved, StorageError
from storage.records import source as record
from storage.records.checks import read_rows
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId, id_of, seq_at
from storage.records.revision import NOTHING, Expected, is_expected
from storage.records.source import MOST_TAGGED
from storage.records.tiers import POLLED, SOCKETS, WITH_DIFF


class SourceService:
    """Handles the messages. Two about one URL are handled in sequence, from any caller."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table
        self._chance = ports.world.chance("registry/ids")
        self.locks = KeyedLocks()
        self._adding = 0
        """Sources that are being saved and are not yet in the table."""

    async def add(self, message: AddSource) -> AddedSource:
        try:
            return await self._add(message)
        except Duplicate as duplicate:  # another node was quicker
            async with self.locks.hold(duplicate.existing.url):
                return await self._existing_source(duplicate.existing, message)

    async def _add(self, message: AddSource) -> AddedSource:
        new = message.new
        url = parse_url(new.url)
        check_settings(new, polled=new.type in (None, *POLLED) and url.scheme not in SOCKETS)
        check_hours(new.hours)
        settings_from(new)
        await check_rendering(self._ports, new)
        await check_selectors(self._ports, PagePart(new.selector, new.ignore))
        async with self.locks.hold(url.text):
            existing = await self._ports.storage.sources.by_url(url.text)
            if existing is not None:
                await message.reply.commit()
                return await self._existing_source(existing, message)
            self._check_limit()
            access = await access_for(self._ports, url, new.headers, may_read=message.reads, is_adding=True)
            try:
                request = classify_request(new, new.type, access.headers, subprotocols=new.subprotocols)
                classification = await classify(self._ports, url, request, access.renewal)
            except (Unprocessable, Overloaded) as error:
                if not (new.verify == "later" and error.may_pass):
                    raise
                return await self._add_pending(url, message, error)
            access.judge_cookies(classification)
            check_settings(new, polled=classification.type in POLLED)
            live = self.make(url.text, new, classification, message.mark, message.by)
            live.source = await self._checked_part(live, classification)
            await message.reply.commit()
            async with self.locks.hold_all(f"feed {key}" for key in record.feed_keys(live.source)):
                known = self._table.revision
                if classification.fetched is not None:
                    same = self._table.same_feed(live.source, classification.fetched.url)
                    if same is not None:
                        return AddedSource(await self._with_tags(same.source.id, message.mark), created=False)
                return await self._insert(live, classification, known)

    async def _insert(self, live: LiveSource, classification: Classification, known: int | None = None) -> AddedSource:
        self._check_limit()  # others have been added while this one was fetched
        self._adding += 1
        try:
            await self.begin(live, classification, known)
            self._table.put(live)
        finally:
            self._adding -= 1
        return AddedSource(self._table.describe(live.source.id), created=True)

    async def _checked_part(self, live: LiveSource, classification: Classification) -> record.Source:
        """Return a new source; its evidence notes a selector, its own or a tag's, that matches nothing now."""
        source, effective = live.source, live.effective
        part = PagePart(effective.selector, effective.ignore)
        if not part or classification.fetched is None or classification.type not in WITH_DIFF:
            return source
        with naming_tags(effective):
            page = await preview_page(self._ports, classification.fetched, part)
        if not (no_match := no_match_text(page, part.selector)):
            return source
        return replace(source, detection=replace(source.detection, evidence=f"{source.detection.evidence}; {no_match}"))

    async def _add_pending(self, url: Url, message: AddSource, error: DomainError) -> AddedSource:
        await pending.check_addable(self._ports, url, message.new.type, error)
        await message.reply.commit()
        detection = pending.provisional_detection(url, message.new.type, error)
        classification = Classification(detection.type, detection, url.text, None, self._ports.world.now())
        live = self.make(url.text, message.new, classification, message.mark, message.by)
        live.hot = pending.first_state(self._ports, live.effective, error)
        (row,) = read_rows(live.hot.trail)
        live.count(row.first_at, row.verdict)
        return await self._insert(live, classification)

    def _check_limit(self) -> None:
        most = self._ports.settings.max_sources
        if len(self._table) + self._adding >= most:
            raise LibraryFull(f"the library is full: max_sources is {most}")

    async def _reload(self, source: SourceId) -> None:
        stored, live = await self._ports.storage.sources.get(source), self._table.look_up(source)
        if live is not None:
            await self._table.stop(live)
        if stored is not None:
            self._table.put(from_storage(live, stored))
        elif live is not None:
            self._table.drop(source)

    async def _existing_source(self, known: record.Source, message: AddSource) -> AddedSource:
        """Return an existing source. The lock of its URL is held. Raises Unprocessable for another type."""
        requested, mark = message.new.type, message.mark
        if requested not in (None, known.type) and not mark:
            reason = f"this URL is watched already, as {known.type}: change the type of source {known.id}"
            raise Unprocessable(reason, "body.type", requested)
        if self._table.look_up(known.id) is None:
            await self._reload(known.id)
        return AddedSource(await self._with_tags(known.id, mark), created=False)

    async def _with_tags(self, source: SourceId, mark: Sequence[str]) -> SourceView:
        live = self._table.get(source)
        tags = tuple(dict.fromkeys((*live.source.tags, *mark)))
        return self._table.describe(source) if tags == live.source.tags else await self._edit(live, {"tags": tags})

    async def edit(self, source: SourceId, patch: SourcePatch, expected: Expected = None, by: str = "") -> SourceView:
        """Apply an edit; the actor restarts, with a new baseline if another part is watched."""
        async with self.locks.hold(self._table.get(source).source.url):
            while True:
                live = self._table.get(source)
                if not is_expected(live.source, expected):
                    raise Stale
                try:
                    return await self._edit(live, settings_from(patch), by)
                except StateMoved:  # another node has edited it
                    await self._reload(source)

    async def _edit(self, live: LiveSource, changes: Mapping[str, Any], by: str = "") -> SourceView:
        before, source = live.source, live.source.id
        after = _edited(before, changes, self._ports.world.now(), by)
        check_settings(after, polled=after.tier.polled)
        check_named(of_source(before), of_source(after), changes)
        check_hours(changes.get("hours"))
        if {"render", "wait_for", "headers", "type", "screenshots"} & changes.keys():
            await check_rendering(self._ports, after)
        selector, ignore = changes.get("selector"), changes.get("ignore", ())
        await check_selectors(self._ports, PagePart(selector, ignore))
        format = before.detection.format if before.detection.format in FORMATS else "html"
        if reason := not_chosen_by(format, filter(None, (selector, *(ignore or ())))):
            where = "body.selector" if selector else "body.ignore"
            raise Unprocessable(f"{before.url} is a {FORMATS.get(format, 'page')}: {reason}", where)
        if after.tier.polled != before.tier.polled:
            raise Unprocessable("a source can't become a push source, or the reverse: add it again", "body.type")
        if after == before:
            return self._table.describe(source)
        await self._table.wait_for_response(live)
        await self._table.stop(live)
        if live.source is not before:  # a response arrived in the meantime
            after = _edited(live.source, changes, self._ports.world.now(), by)
        try:
            changed = await self._replace(live, after)
        except StorageError:
            self._table.put(live)  # it is watched as before
            raise
        self._table.put(changed)
        if after.headers_for and after.headers != before.headers:
            await self._table.hurry_borrowers(changed)
        return self._table.describe(source)

    async def _replace(self, live: LiveSource, after: record.Source) -> LiveSource:
        """Store an edited source, with a new baseline if another part is watched. A waiting harvest of its stopped
        actor is then refused, because it is based on the former state.
        """
        before, storage, version = live.source, self._ports.storage, new_version(self._ports.world)
        now, hot = self._ports.world.now(), None
        cookies_after = live.cookies if after.headers == before.headers else live.cookies.for_new_headers()
        cookies = cookies_after.text
        if _baseline_key(after) != _baseline_key(before):  # the actor handles changes by tags, at its next check
            # The memory stays for one more check, which compares with it first: a change may be under way.
            hot = replace(live.hot, validators=record.Validators(), next_look_at=now, part=OTHER_PART, cookies=cookies)
        elif after.headers != before.headers:  # a user with new headers waits for their result
            soon = Millis(max(now, live.hot.not_before or 0))
            hot = replace(live.hot, breaker=record.BreakerState(), next_look_at=soon, cookies=cookies)
        elif self._ports.tag_table.of(after).hours != live.effective.hours and live.hot.breaker.state == "closed":
            due = (live.hot.last_look_at or 0) + round(1000 * live.hot.interval)  # it may wait for the old hours
            hot = replace(live.hot, next_look_at=Millis(max(due, now, live.hot.not_before or 0)))
        state = None if hot is None else record.SourceState(after.id, hot, version=version)
        known = before if self._ports.storage.ownership.shared else None
        await storage.sources.update(after, storage.lease, version, state, before=known)
        changed = with_record(live, after)
        changed.cookies = cookies_after
        if hot is not None:
            changed.hot = hot
            cookies_after.on_saved(record.parted(cookies)[0], saved=True)
        elif not live.unsaved and (stored := await storage.sources.get(after.id)) is not None:
            changed.hot = progress.newer(live.hot, stored.hot)
            changed.unsaved = changed.hot is live.hot
        changed.version = version
        return changed

    async def teach(self, message: Teach) -> TeachResult:
        async with self.locks.hold(self._table.get(message.source).source.url):
            live = self._table.get(message.source)
            if "noise" not in live.source.tier.settings:
                raise Unprocessable(f"{live.source.url} is not watched as a page: only pages learn noise")
            try:
                texts = await in_jail(self._ports.world.jail, "block_keys", KeysRequest(message.texts), list[str])
            except CheckFailed as failure:
                raise Overloaded(f"the blocks could not be read: {failure.reason}") from None
            keys = dict.fromkeys(texts)
            others = [key for key in live.source.noise if key not in keys]
            known = len(live.source.noise) - len(others)
            noise = tuple([*others, *keys][-record.MOST_NOISE :] if message.noise else others)
            view = await self._edit(live, {"noise": noise})
            return TeachResult(view, len(keys) - known if message.noise else known)

    async def delete(self, source: SourceId, expected: Expected = None) -> None:
        """Stop watching after a running check; keep the source for restoring, unless it is for practice."""
        async with self.locks.hold(self._table.get(source).source.url):
            storage = self._ports.storage
            while True:
                live = self._table.get(source)
                if not is_expected(live.source, expected):
                    raise Stale
                await self._table.stop(live)
                known = live.source if self._ports.storage.ownership.shared else None
                try:
                    if live.source.practice is None:
                        storage, version = self._ports.storage, new_version(self._ports.world)
                        deleted = replace(live.source, deleted_at=self._ports.world.now())
                        has_unsaved = live.unsaved or live.cookies.needs_save
                        state = record.SourceState(deleted.id, live.hot, version=version) if has_unsaved else None
                        await storage.sources.update(deleted, storage.lease, version, state, before=known)
                    else:
                        await storage.sources.delete(source, storage.lease, before=known)
                except StateMoved:
                    await self._reload(source)
                except StorageError:
                    self._table.put(live)
                    raise
                else:
                    self._table.drop(source)
                    return

    async def restore(self, source: SourceId) -> SourceView:
        storage = self._ports.storage
        deleted = await storage.sources.get(source, deleted=True)
        deleted_at = None if deleted is None else deleted.source.deleted_at
        if deleted is None or deleted_at is None or self._ports.world.now() - deleted_at >= record.RESTS:
            raise NotFound(f"there is no deleted source {source} to restore")
        async with self.locks.hold(deleted.source.url):
            self._check_limit()
            restored, version = replace(deleted.source, deleted_at=None), new_version(self._ports.world)
            try:
                await storage.sources.update(restored, storage.lease, version, before=deleted.source)
            except Duplicate as duplicate:
                existing = duplicate.existing.id
                raise Conflict(f"{restored.url} was added again as source {existing}: delete that first") from None
            except StateMoved:
                raise Conflict(f"source {source} is no longer deleted") from None
            if await storage.sources.get(source) is None:
                raise NotFound(f"source {source} has been deleted")
            self._table.put(LiveSource(restored, deleted.hot, version))
            return self._table.describe(source)

    def check(self, source: SourceId) -> Millis:
        """Request a check. Raises TooSoon while politeness forbids it."""
        live = self._table.get(source)
        if not live.source.enabled:
            raise Conflict(f"source {source} is paused: resume it first")
        now = self._table.check_politeness(live)
        if self._ports.egress.hosts.prioritize(host_of(live.source.watch_url), source):
            return now
        self._table.request_check(live)
        return now

    def make(
        self, url: str, new: NewSource, classification: Classification, mark: Sequence[str] = (), by: str = ""
    ) -> LiveSource:
        """Return a source that is not stored yet. mark, by: as in AddSource."""
        now, settings = self._ports.world.now(), settings_from(new)
        tags = tuple(dict.fromkeys((*new.tags, *mark)))
        settings |= {"url": url, "type": classification.type, "tags": tags, "updated_by": by}
        settings |= {"watch_url": classification.watch_url, "detection": classification.detection}
        id = SourceId(id_of(seq_at(now), self._chance.getrandbits(59)))
        source = record.Source(id=id, created_at=now, updated_at=now, **settings)
        if not source.is_web_page:
            source = replace(source, render="never", wait_for=None, screenshots=False)
        live = LiveSource(source, record.SourceRuntime(interval=START_INTERVAL))
        live.tags = self._ports.tag_table
        live.inherit()
        if source.headers is not None:
            live.cookies = self._ports.preview_cookies.assign(cookie_key(parse_url(url), source.headers), source.id)
        return live

    async def begin(self, live: LiveSource, classification: Classification, known: int | None = None) -> None:
        """Save a new source with its baseline and backfill in one transaction. Raises StorageError, Unanswered: it may
        exist then, and a repeated request finds it by its URL.
        """
        storage, source, now = self._ports.storage, live.source, self._ports.world.now()
        state, drafts, picture = record.SourceState(source.id, live.hot, b""), tuple[Draft, ...](), None
        if classification.fetched is not None:
            check = BodyCheck(live.effective, b"", classification.fetched, now)
            try:
                reading = await self._table.readers[source.type].first(
                    self._ports.world.jail, check, classification.feed
                )
            except CheckFailed as failure:
                raise domain_error(failure, source.url) from None
            live.source = source = with_title(source, reading.title)
            state, drafts = first_state(classification.fetched, reading, now, self._ports, live), reading.drafts
            picture = screenshot_to_store(source, classification.fetched, reading, drafts, now)
        if drafts or picture is not None:
            harvest = record.Harvest(source.id, drafts, state, born=source, picture=picture, known=known)
            await self._ports.recorder.ask(lambda reply: Record(harvest, reply))
        else:
            await storage.sources.add(source, state, storage.lease, known)
        live.hot, live.version, live.unsaved = state.hot, state.version, False
        live.mark_stored(state.hot)


def _edited(source: record.Source, given: Mapping[str, Any], now: Millis, by: str) -> record.Source:
    """Return a source with some fields set, itself if nothing changes. The service's own tags stay."""
    changes = dict(given)
    if "tags" in changes:
        service_tags = (tag for tag in source.tags if tag.partition(":")[0] in record.OWN_NAMESPACES)
        changes["tags"] = tuple(dict.fromkeys((*changes["tags"], *service_tags)))
    if "type" in changes and source.detection.pending:
        changes["detection"] = replace(source.detection, type=changes["type"], forced=True)
    if changes.get("headers") and source.headers is None:  # a password form without sign-in says nothing about the page
        changes["detection"] = replace(changes.get("detection", source.detection), asks_password=False)
    edited = replace(source, **changes)
    return source if edited == source else replace(edited, updated_at=now, updated_by=by)


def _baseline_key(source: record.Source) -> tuple[object, ...]:
    shown = (source.render, source.wait_for) if source.is_web_page else None
    follows = source.tier.has_diff and source.follow
    asks = source.tier.polled and source.headers is None
    return source.type, source.selector, source.ignore, asks, follows, shown


class TagDefaultsService:
    """Keeps the table of tags (`Ports.tags`) equal to storage, and applies it to the sources."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table
        self._revision = -1
        self._reading = trio.Lock()

    async def set(self, message: SetTagDefaults) -> record.TagDefaults | None:
        """Store a tag's defaults and apply them, even if there is nothing left to store: a retry may need that. Raises
        as SetTagDefaults does, StorageError.
        """
        settings, store = message.settings, self._ports.storage.tag_defaults
        if settings is not None:
            check_hours(settings.hours)
            await check_selectors(self._ports, PagePart(settings.selector, settings.ignore))
            if len(await store.all()) >= MOST_TAGGED and await store.get(message.tag) is None:
                raise Conflict(f"{MOST_TAGGED} tags have defaults, the most possible: delete those of another tag")
        defaults = await store.edit(message.tag, lambda old: changed(old, message, self._ports.world.now()))
        await self.read()
        return defaults

    async def follow(self, revision: int) -> None:
        """Read them again if any node has changed one since `revision`. Raises StorageError."""
        if revision != self._revision:
            await self.read()

    async def read(self) -> int:
        """Read them and apply them to all sources; return how many changed. Raises StorageError."""
        async with self._reading:
            stored = self._ports.storage.tag_defaults
            revision = await stored.revision()  # first, so that a change during the reading is read again
            defaults = await stored.all()
            if not self._ports.tag_table.replace_all(defaults):
                changed = 0
            else:
                changed = await self._table.reapply_defaults()
                self._ports.world.log("registry.inherits_anew", tags=len(defaults), sources=changed)
            self._revision = revision
            return changed


def changed(old: record.TagDefaults | None, message: SetTagDefaults, now: Millis) -> record.TagDefaults | None:
    """Return a tag's new defaults; without a difference the old ones, with their time. Raises Stale, NotFound."""
    if not (message.expected in (None, NOTHING) if old is None else is_expected(old, message.expected)):
        raise Stale
    if message.settings is None:
        if old is None:
            raise NotFound(f"the tag {message.tag} has no defaults")
        return None
    managed = {} if old is None else {"managed": old.managed}
    defaults = record.TagDefaults(message.tag, now, updated_by=message.by, **managed | defaults_of(message.settings))
    is_same = old is not None and replace(defaults, updated_at=old.updated_at, updated_by=old.updated_by) == old
    return old if is_same else defaults
