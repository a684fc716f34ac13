"""One polite request for a source: robots.txt, the host's turn, a place among all looks, then the guarded client."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actors.egress.cookies import Jar
from actors.egress.failures import Blame, LookFailed
from actors.egress.host_queue import Ticket
from actors.egress.http import Elsewhere, FetchedResponse
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.sources.looks.access import NO_ACCESS, Access
from actors.sources.looks.renewal import Opened, Renewal
from actors.sources.ports import Ports
from storage.records.source import Validators

NO_VALIDATORS = Validators()


async def fetch(
    ports: Ports,
    claim: Ticket,
    text: str,
    *,
    accept: str,
    robots: bool,
    validators: Validators = NO_VALIDATORS,
    access: Access = NO_ACCESS,
    renewal: Renewal | None = None,
) -> FetchedResponse:
    """Return the answer (200 or 304), with the cookies of `access` as it and the redirects before it have renewed them.
    Raises LookFailed, also when robots.txt forbids the look, and UrlRefused.

    renewal: has the cookies to send when the turn has come, and is told what is set while the body is still on its way,
    also by an answer that is a failure.

    Each request on the way, redirects included, takes a turn of its own at its host, one at a time. The host learns of
    the outcome, so that its own breaker can rest all its sources at once.
    """
    url, hops = parse_url(text, schemes=("http", "https")), tuple[str, ...]()
    passing: dict[str, Jar] = {}
    while True:
        if robots:
            await ask_robots(ports, claim, url)
        wish = _FetchRequest(accept, validators, hops, Opened(ports, url, access, renewal, passing))
        try:
            fetched = await _ask(ports, claim, url, wish)
        except Elsewhere as redirect:
            access = wish.opened.access
            if validators.url is None and redirect.url.origin != url.origin:
                validators = NO_VALIDATORS  # they tell who asks, and nobody knows that they are this origin's
            url, hops = redirect.url, redirect.hops
        else:
            return replace(fetched, cookies=wish.opened.access.cookies)


@dataclass(frozen=True, slots=True)
class _FetchRequest:
    accept: str
    validators: Validators
    hops: tuple[str, ...]
    opened: Opened


async def _ask(ports: Ports, claim: Ticket, url: Url, wish: _FetchRequest) -> FetchedResponse:
    """Ask one URL. Raises LookFailed, and Elsewhere when it sends us to another one."""
    egress = ports.egress
    async with egress.hosts.turn(url.host, claim):
        try:
            async with ports.looks:
                access = wish.opened.begin()
                fetched = await egress.http.get(
                    url,
                    etag=wish.validators.etag,
                    last_modified=wish.validators.last_modified,
                    validated=wish.validators.url,
                    accept=wish.accept,
                    stay=True,
                    hops=wish.hops,
                    given=wish.opened.headers(access),
                    posted=access.posted_to(url),
                    steps=claim.steps,
                    heard=wish.opened.take,
                )
        except LookFailed as error:
            failure = egress.line.failed(url.host, error, asked=claim.asked)
            tell_host(ports, url, claim.name, failure)
            raise failure from None
        except Elsewhere:
            answered(ports, url)
            raise
        answered(ports, url)
    return fetched


def answered(ports: Ports, url: Url) -> None:
    """Tell the line and the host that the host has answered, in whatever way."""
    ports.egress.line.answered(url.host)
    ports.egress.hosts.succeeded(url.host)


def host_of(text: str) -> str:
    """Return the host of a watched URL; "" for one that the guard would no longer take."""
    try:
        return parse_url(text).host
    except UrlRefused:
        return ""


def refusal(error: UrlRefused) -> LookFailed:
    """Return the failed look that a refusal by the guard is."""
    return LookFailed(Blame.REMOTE_PERMANENT, f"refused by the guard ({error.rule}): {error.detail}")


async def ask_robots(ports: Ports, claim: Ticket, url: Url) -> None:
    """Raise LookFailed when robots.txt forbids a look, or can't be had; tell the host what pace it asks for."""
    verdict = await ports.egress.robots.verdict(url, claim)
    if not verdict.allowed:
        raise verdict.refusal()
    ports.egress.hosts.crawl_delay(url.host, verdict.crawl_delay, url.origin)


def tell_host(ports: Ports, url: Url, source: str, failure: LookFailed) -> None:
    """Tell the host what a failed request means for all its sources."""
    if failure.blame is Blame.REMOTE_TRANSIENT:
        ports.egress.hosts.failed(url.host, source)
    elif failure.blame is Blame.THROTTLED:
        ports.egress.hosts.hold(url.host, failure.hold)
    elif failure.status is not None:
        ports.egress.hosts.succeeded(url.host)  # an answer, if not the one that was hoped for
