"""One check of a source: fetched, rendered by a browser, or generated for practice; and the time of the second one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Final

import trio

from actors.egress.cookies import over_since
from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.messages.requests import PacePreview
from actors.sources.body_cache import CachedBody
from actors.sources.checks import access as access_rules
from actors.sources.checks import progress
from actors.sources.checks.fetch import NO_VALIDATORS, BodyReader, fetch, practice_response
from actors.sources.checks.progress import CheckResult
from actors.sources.checks.rendering import (
    empty_page_sign,
    render_page,
    unavailable,
    without_screenshot,
    without_validators,
)
from actors.sources.lending import ResolvedSource
from actors.sources.ports import LiveSource, Ports
from actors.sources.schedule.cadence import START_INTERVAL, Hints, Limits
from storage.records.identity import Millis, rfc3339
from storage.records.source import Source, SourceRuntime, Validators

REJECTED_HEADERS = "the source's headers no longer sign in; give it new ones"
EXPIRED = "its cookie had expired by the site's own date, at"
Render = Callable[..., Awaitable[FetchedResponse]]
PREVIEW_MAX_AGE: Final = 60.0  # seconds that a cached body serves previews
SIGNED_OUT = "signed out: the page asks for a password now; give the source new headers"


async def fetch_source(
    ports: Ports,
    claim: TurnRequest,
    resolved: ResolvedSource,
    tier: BodyReader,
    renewal: access_rules.Renewal,
    *,
    validators: Validators = NO_VALIDATORS,
    rendered: bool,
) -> FetchedResponse:
    """Return a source's response: fetched, rendered, or for practice sources only, generated here. Raises as `fetch`,
    also when its headers no longer sign in: a page for strangers is no change.

    rendered: the source's memory is of a rendered page. renewal: tracks its cookies, and learns of signed-out
    responses. The stored record decides on practice, and no API sets it: no URL or redirect leads to in-process
    content.
    """
    source, now = resolved.source, ports.world.now
    if source.practice is not None:
        await trio.lowlevel.checkpoint()
        return practice_response(source.watch_url, source.practice, validators)
    access, url, robots = renewal.access, source.watch_url, tier.robots
    render = partial(
        render_page, ports, claim, wait_for=source.wait_for, screenshot=source.screenshots, renewal=renewal
    )
    try:
        if source.is_web_page and source.render == "always":
            fetched = await render(url, robots=robots)
        else:
            fetched = await fetch(ports, claim, url, tier.accept, robots=robots, renewal=renewal, validators=validators)
            if source.is_web_page and source.render == "auto" and access.body is None:
                fetched = await _rendered_if_empty(ports, fetched, render, rendered=rendered)
    except CheckFailed as error:
        if error.status in access_rules.SIGNED_OUT_STATUSES:
            renewal.reject()
        if access.headers and error.status == HTTPStatus.UNAUTHORIZED:
            why = f"{error.reason}: {_signed_out_reason(REJECTED_HEADERS, access, resolved.lender, now())}"
            raise CheckFailed(Blame.REMOTE_PERMANENT, why, status=error.status) from None
        raise
    if access.headers and not source.detection.asks_password and access_rules.asks_password(fetched.body):
        renewal.reject()
        why = _signed_out_reason(SIGNED_OUT, access, resolved.lender, now())
        raise CheckFailed(Blame.REMOTE_PERMANENT, why, status=fetched.status)
    return fetched


async def fetch_for_user(
    ports: Ports, live: LiveSource, claim: TurnRequest, tier: BodyReader, begin: Callable[[], object]
) -> CachedBody:
    """Return a source's body of the last minute, or call `begin` and fetch. Raises as `fetch_source` and `begin`."""
    resolved, rendered = ports.lenders.resolve(live), live.hot.rendered
    key = body_cache_key(resolved.source, rendered=rendered)
    if (cached := ports.body_cache.find(key, PREVIEW_MAX_AGE)) is not None:
        return cached
    begin()
    renewal = access_rules.renewal_of(ports, resolved)
    fetched = await fetch_source(ports, claim, resolved, tier, renewal, rendered=rendered)
    renewal.confirm()
    key = body_cache_key(resolved.source, rendered=fetched.rendered is not None)
    return ports.body_cache.put(key, without_screenshot(fetched), ports.world.now())


def _signed_out_reason(reason: str, access: access_rules.Access, lender: str, now: int) -> str:
    expired_at = over_since(access.jar or (), now)
    owner = f"; they are those of {lender}" if lender else ""
    return f"{reason}{owner}" if expired_at is None else f"{reason}{owner} ({EXPIRED} {rfc3339(Millis(expired_at))})"


async def _rendered_if_empty(
    ports: Ports, fetched: FetchedResponse, render: Render, *, rendered: bool
) -> FetchedResponse:
    """Return a page as sent, or rendered if it is empty without its scripts. Raises CheckFailed. Without a browser the
    page as sent is watched, unless the memory is of a rendered page: the two can't be compared.
    """
    if not await empty_page_sign(ports, fetched):
        return fetched
    if not rendered and unavailable(ports):
        return without_validators(fetched)
    try:
        return await render(fetched.url, robots=False)
    except CheckFailed as failure:
        if rendered or failure.blame is not Blame.LOCAL:
            raise
        return without_validators(fetched)


def body_cache_key(source: Source, *, rendered: bool) -> str:
    return access_rules.cache_key(source.watch_url, source.headers, rendering_key(source.wait_for) if rendered else "")


def rendering_key(wait_for: str | None) -> str:
    return f"shown\n{wait_for or ''}"


def pace_preview(
    ports: Ports, at: Millis, hints: Hints, times: tuple[Millis, ...], *, rendered: bool = False
) -> PacePreview:
    """Return the time of the second check, without jitter."""
    settings = ports.settings
    limits = Limits(settings.cadence_floor, settings.cadence_ceiling)
    result = CheckResult(at, 200, Validators(), changed=False, hints=hints, times=times, rendered=rendered)
    hot = progress.succeeded(SourceRuntime(interval=START_INTERVAL), result, limits, 0.5, ports.pricing.price)
    due = hot.next_look_at if hot.next_look_at is not None else at
    return PacePreview(round(hot.interval, 1), due, hints.max_age, hints.ttl, hints.skip_hours, hints.skip_days)
