"""Bugs of the watching: of politeness, of changes, of blame."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from actors.content import feeds, tasks
from actors.content.changes import swaps
from actors.content.changes.churn import ChangeVerdict, content_of, judge
from actors.content.changes.memory import PageMemory, pack
from actors.content.pages import page as pages
from actors.content.pages.page import PageReading
from actors.egress import guard, http, websocket
from actors.egress import uplink as line
from actors.egress.address import HostAliases
from actors.egress.failures import PLAIN_HOLD, Blame, CheckFailed
from actors.egress.guard import Guard
from actors.egress.hosts import Hosts
from actors.egress.robots import Robots, RobotsVerdict
from actors.sources import polling
from actors.sources.checks import progress
from actors.sources.feed import seen
from actors.sources.feed.reader import NewEntriesDecision
from actors.sources.polling import PolledSource
from storage.records.identity import Millis
from storage.records.source import Harvest, SourceRuntime, Validators

_LATER = 24 * 3600 * 1000


# --- politeness ------------------------------------------------------------------------------------------------------


def validators_lost_at_a_304() -> AbstractContextManager[Any]:
    """A 304 without validators clears the known ones."""
    right = polling._check_result

    def wrong(before: SourceRuntime, fetched: Any, reading: Any, at: Millis) -> Any:
        looked = right(before, fetched, reading, at)
        return replace(looked, validators=Validators()) if fetched.status == 304 else looked

    return patch.object(polling, "_check_result", wrong)


def validators_sent_everywhere() -> AbstractContextManager[Any]:
    """One host's validators go to every other host on the way."""

    right = http.FetchRequest.conditions

    def wrong(self: http.FetchRequest) -> list[tuple[bytes, bytes]]:
        return right(dataclasses.replace(self, validated=None))

    return patch.object(http.FetchRequest, "conditions", wrong)


def retry_after_ignored() -> AbstractContextManager[Any]:
    """A host's `Retry-After` is ignored."""
    return patch.object(http, "retry_after", lambda value, now: None)


def dates_by_our_clock() -> AbstractContextManager[Any]:
    """A date in a header is compared with our own clock, which may be an hour off."""
    return patch.object(http, "sent_at", lambda headers, wall: wall)


def throttled_at_a_steady_pace() -> AbstractContextManager[Any]:
    """A throttling host is asked again every minute."""
    return patch.object(progress, "_growing_hold", lambda hot: PLAIN_HOLD)


def crawl_delay_ignored() -> AbstractContextManager[Any]:
    """A Crawl-delay is read and not kept."""
    return patch.object(Hosts, "crawl_delay", lambda self, host, seconds, origin="": None)


def twins_apart() -> AbstractContextManager[Any]:
    """A host that is known by two names gets twice its share."""
    return patch.object(HostAliases, "canonical", lambda self, host: host)


def robots_forgotten() -> AbstractContextManager[Any]:
    """An expired robots.txt is not fetched again, and allows all."""
    right = Robots.verdict

    async def wrong(self: Robots, url: Any, *claim: Any) -> RobotsVerdict:
        site = self._sites.get(url.origin)
        if site is not None and site.known and trio.current_time() >= site.until:
            return RobotsVerdict(True, None, "nothing is known against it")
        return await right(self, url, *claim)

    return patch.object(Robots, "verdict", wrong)


def redirects_unguarded() -> AbstractContextManager[Any]:
    """A literal address needs no resolving, and so is not checked."""
    right = Guard._addresses

    async def wrong(self: Guard, host: str) -> tuple[str, ...]:
        return (host,) if host.replace(".", "").isdigit() else await right(self, host)

    return patch.object(Guard, "_addresses", wrong)


# --- changes ---------------------------------------------------------------------------------------------------------


def compared_with_the_last_check() -> AbstractContextManager[Any]:
    """A page is compared with its last check instead of the reported state."""
    right = judge

    def wrong(memory: PageMemory | None, reading: PageReading, *more: Any, **most: Any) -> ChangeVerdict:
        verdict = right(memory, reading, *more, **most)
        return replace(verdict, memory=pack(content_of(reading))) if verdict.kind == "churn" else verdict

    return patch.object(tasks, "judge", wrong)


@contextmanager
def walls_reported() -> Iterator[None]:
    """Every 200 is the page, even when hardly anything of the page is left."""
    no_trouble = patch.object(pages, "trouble_of", lambda root, title, blocks: None)
    with no_trouble, patch.object(swaps.PageSwap, "is_one", lambda self: False):
        yield


@contextmanager
def identity_by_title() -> Iterator[None]:
    """An entry's title is its only identity."""
    right = feeds._forms

    def wrong(raw: feeds.Raw) -> tuple[Any, list[str]]:
        return right(raw)[0], [raw.title]

    with patch.object(feeds, "_forms", wrong), patch.object(seen._Matcher, "_match", lambda self, unknown: None):
        yield


def absent_entries_forgotten() -> AbstractContextManager[Any]:
    """An entry that leaves its feed is unknown when it comes back."""
    right = seen._pack
    return patch.object(seen, "_pack", lambda before, *rest: right({}, *rest))


def resets_reported() -> AbstractContextManager[Any]:
    """A wholly new feed is reported entry by entry."""
    return patch(
        "actors.sources.feed.reader.decide",
        lambda count, new, before, newest, moved, was_empty: NewEntriesDecision((*new, *moved), (), before),
    )


def state_without_its_base() -> AbstractContextManager[Any]:
    """With events only the small part of a source's memory is committed."""
    right = PolledSource._send

    async def wrong(self: PolledSource, harvest: Harvest, *, checked: bool = False) -> None:
        if harvest.drafts and harvest.state is not None:
            harvest = replace(harvest, state=replace(harvest.state, base=None))
        await right(self, harvest, checked=checked)

    return patch.object(PolledSource, "_send", wrong)


# --- times of checks, and blame --------------------------------------------------------------------------------------


@contextmanager
def breaker_never_half_open() -> Iterator[None]:
    """An open breaker delays the next try by a day more, and never half-opens."""
    right = progress.failed

    def wrong(*args: Any) -> SourceRuntime:
        hot = right(*args)
        if hot.breaker.state == "closed" or hot.next_look_at is None:
            return hot
        return replace(hot, next_look_at=Millis(hot.next_look_at + _LATER))

    with patch.object(progress, "failed", wrong), patch.object(progress, "cap_waits", lambda hot, now, limits: hot):
        yield


def outages_blamed_on_sources() -> AbstractContextManager[Any]:
    """A failure of our resolver is blamed on the host."""
    return patch.object(
        guard, "_unresolved", lambda host, error: CheckFailed(Blame.REMOTE_TRANSIENT, f"{host} does not resolve")
    )


def all_back_at_once() -> AbstractContextManager[Any]:
    """After an outage of our line all waiting sources run at once."""
    return patch.object(line, "SPREAD", 0.0)


def dead_connections_kept() -> AbstractContextManager[Any]:
    """A WebSocket without pongs is waited for."""
    return patch.object(websocket, "SIGN_WITHIN", 1e9)
