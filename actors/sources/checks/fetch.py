"""One polite request for a source: robots.txt, the host's turn, a slot among all checks, then the guarded client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from actors.egress.cookies import Jar
from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse, FetchRequest, RedirectElsewhere
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.practice import DOCUMENTS, kind_of_url
from actors.sources.checks.access import Access, Renewal, RequestAccess
from actors.sources.ports import Ports
from storage.records.source import Validators

NO_VALIDATORS = Validators()


async def fetch(
    ports: Ports,
    claim: TurnRequest,
    text: str,
    accept: str,
    *,
    robots: bool,
    renewal: Renewal,
    access: Access,
    validators: Validators = NO_VALIDATORS,
) -> FetchedResponse:
    """Return the response (200 or 304), with the cookies of `access` as it and the redirects renewed them. Raises
    CheckFailed, also when robots.txt forbids the check, and UrlRefused. renewal: has the cookies to send when the turn
    comes, and gets new ones before the body arrives, also from a failing response. Each redirect takes a turn at its
    host.
    """
    url, hops = parse_url(text, schemes=("http", "https")), tuple[str, ...]()
    temporary: dict[str, Jar] = {}
    while True:
        if robots:
            await check_robots(ports, claim, url)
        request_access = RequestAccess(ports, url, access, renewal, temporary)
        try:
            async with at_host(ports, claim, url, asked=claim.interactive), ports.check_slots:
                access = request_access.begin()
                request = FetchRequest(
                    url,
                    etag=validators.etag,
                    last_modified=validators.last_modified,
                    validated=validators.url,
                    accept=accept,
                    user_headers=request_access.headers(access),
                    body=access.body_to(url),
                    steps=claim.steps,
                    on_cookies=request_access.on_set_cookies,
                )
                fetched = await ports.egress.http.get(request, hops)
        except RedirectElsewhere as redirect:
            access = request_access.access
            if validators.url is None and redirect.url.origin != url.origin:
                validators = NO_VALIDATORS  # validators identify the requester, and may be of another origin
            url, hops = redirect.url, redirect.hops
        else:
            return replace(fetched, cookies=request_access.access.cookies)


@asynccontextmanager
async def at_host(ports: Ports, claim: TurnRequest, url: Url, *, asked: bool) -> AsyncIterator[None]:
    """Run a block with one request in the host's turn; the uplink monitor and the host's breaker learn the outcome, so
    that the host can rest all its sources. Raises HostOpen, and the block's CheckFailed as the monitor reads it.
    """
    async with ports.egress.hosts.turn(url.host, claim):
        try:
            yield
        except CheckFailed as error:
            failure = ports.egress.uplink.failed(url.host, error, interactive=asked)
            if failure.blame is Blame.REMOTE_TRANSIENT:
                ports.egress.hosts.failed(url.host, claim.name)
            elif failure.blame is Blame.THROTTLED:
                ports.egress.hosts.hold(url.host, failure.hold)
            elif failure.status is not None:
                ports.egress.hosts.succeeded(url.host)  # an answer, though an unwanted one
            raise failure from None
        except RedirectElsewhere:
            _record_answer(ports, url)
            raise
        _record_answer(ports, url)


def _record_answer(ports: Ports, url: Url) -> None:
    ports.egress.uplink.answered(url.host)
    ports.egress.hosts.succeeded(url.host)


def host_of(text: str) -> str:
    try:
        return parse_url(text).host
    except UrlRefused:
        return ""


def as_failure(error: CheckFailed | UrlRefused) -> CheckFailed:
    if isinstance(error, CheckFailed):
        return error
    return CheckFailed(Blame.REMOTE_PERMANENT, f"refused by the guard ({error.rule}): {error.detail}")


async def check_robots(ports: Ports, claim: TurnRequest, url: Url) -> None:
    """Raise CheckFailed if robots.txt forbids a check or is unavailable; pass its crawl delay to the host."""
    verdict = await ports.egress.robots.verdict(url, claim)
    if not verdict.allowed:
        raise verdict.refusal()
    ports.egress.hosts.crawl_delay(url.host, verdict.crawl_delay, url.origin)


def practice_response(url: str, step: int, validators: Validators) -> FetchedResponse:
    """Return the document at a practice source's URL after `step` changes; a 304 without a body if it is known."""
    document, etag = DOCUMENTS[kind_of_url(url)], f'"practice-{step}"'
    body, status = (b"", 304) if validators.etag == etag else (document.at(step), 200)
    return FetchedResponse(
        url=url,
        status=status,
        headers={"etag": etag, "content-type": document.media},
        body=body,
        content_type=document.media,
        etag=etag,
        wire_bytes=len(body),
    )
