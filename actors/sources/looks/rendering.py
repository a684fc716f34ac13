"""A page as a browser shows it, as politely as any other look: robots.txt, the host's turn, its breaker.

What comes back is a `FetchedResponse` like that of a plain look, so nothing that reads pages knows of browsers. It has
no validators: that a page's own bytes are the same says nothing of what its scripts put there.

A browser that is not there, or died, is our own fault and no source's. What is remembered of a page as a browser showed
it is never compared with the page as it was sent: all of it would seem to be gone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import msgspec
import trio

from actors.content.messages.readings import Finding
from actors.content.messages.requests import DetectRequest
from actors.egress.cookies import SetCookies
from actors.egress.failures import Blame, LookFailed, LookRefused, NotRendered
from actors.egress.headers import user_agent
from actors.egress.host_queue import Ticket
from actors.egress.http import FetchedResponse
from actors.egress.statuses import failure
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.sources.looks.access import Access
from actors.sources.looks.fetch import answered, ask_robots, tell_host
from actors.sources.looks.reading import in_jail, page_patience
from actors.sources.looks.renewal import Opened, Renewal
from actors.sources.ports import Ports
from actors.tracing.steps import step
from actors.world import Rendered, RenderFailed, RenderRequest

PATIENCE: Final = 4.0
"""Times the deadline of one page after which a browser that says nothing is given up: pages wait for each other."""
NO_BROWSER: Final = "this service has no browser (`sanderling doctor` says what is missing)"
EMPTY_STILL: Final = "a browser shows it, and it is still empty"
HTML: Final = "text/html; charset=utf-8"
_UNSEEN: Final = re.compile(rb"(script|style|svg|noscript|template)\b", re.IGNORECASE)
_MANY: Final = 400
"""Words of a page, menus and all, from which on it is none that is empty."""
_GLANCE: Final = 128 << 10


def lacks(ports: Ports) -> str:
    """Return why no page can be rendered here, "" when pages can."""
    return NO_BROWSER if ports.world.browser is None else ports.world.browser.lacks()


def may_be_shell(body: bytes) -> bool:
    """Return whether a page may be empty without its scripts, by a glance at its bytes.

    >>> may_be_shell(b"<div id=root></div><SCRIPT src=a.js></SCRIPT>"), may_be_shell(b"<p>Hello</p>")
    (True, False)
    """
    words, has_scripts, within = 0, False, b""
    for part in body[:_GLANCE].split(b"<")[1:]:
        if within:
            if part[:1] != b"/" or not part[1:].lower().startswith(within):
                continue
            within = b""
        elif (found := _UNSEEN.match(part)) is not None:
            within = found[1].lower()
            has_scripts = has_scripts or within == b"script"
            continue
        words += len(part.partition(b">")[2].split(None, _MANY))
        if words > _MANY:
            return False
    return has_scripts


async def show(
    ports: Ports,
    claim: Ticket,
    text: str,
    access: Access,
    wait_for: str | None,
    *,
    robots: bool = True,
    screenshot: bool = False,
    renewal: Renewal | None = None,
) -> FetchedResponse:
    """Return a page as a browser shows it. Raises LookFailed, also when robots.txt forbids it, and UrlRefused.

    robots: False when robots.txt was asked about this very address a moment ago. screenshot: with a picture of it.
    renewal: has the cookies to send, and is told of those that the browser has in the end.
    """
    url = parse_url(text, schemes=("http", "https"))
    if why := lacks(ports):
        raise NotRendered(Blame.LOCAL, f"it could not be rendered: {why}")
    if robots:
        await ask_robots(ports, claim, url)
    async with ports.egress.hosts.turn(url.host, claim):
        try:
            opened = Opened(ports, url, access, renewal)
            with step(claim.steps, "render", {"url.full": url.text, "server.address": url.host}):
                rendered = await _render(opened, wait_for, screenshot=screenshot)
        except LookFailed as error:
            raise _told(ports, claim, url, error) from None
        answered(ports, url)
    await _check_where(ports, claim, url, rendered)
    fetched = replace(_as_fetched(url, rendered), cookies=opened.access.cookies)
    if why := await emptiness(ports, fetched):
        raise NotRendered(Blame.CONTENT, f"{EMPTY_STILL}: {why}", status=fetched.status)
    return fetched


async def emptiness(ports: Ports, fetched: FetchedResponse) -> str:
    """Return by what a page shows that it is empty without its scripts; "" when it is not. Raises LookFailed."""
    if fetched.status != 200 or not may_be_shell(fetched.body):
        return ""
    request = msgspec.msgpack.encode(DetectRequest(fetched.body, fetched.content_type, fetched.url))
    deadline = page_patience(ports.settings.parse_deadline, fetched.body)
    answer = await in_jail(ports.world.jail, "detect", request, deadline=deadline)
    return msgspec.msgpack.decode(answer, type=Finding).shell


async def _render(opened: Opened, wait_for: str | None, *, screenshot: bool) -> Rendered:
    """Have the browser show a page. What it sets is taken also where its status is a failure. Raises LookFailed."""
    ports, url, access = opened.ports, opened.url, opened.begin()
    browser, deadline = ports.world.browser, ports.settings.look_timeout
    assert browser is not None, "what lacks was asked before"
    request = RenderRequest(
        url=url.text,
        user_agent=user_agent(ports.settings.contact),
        headers=tuple((name.decode(), value.decode()) for name, value in access.to(url, ports.world.now())),
        wait_for=wait_for or "",
        deadline=deadline,
        screenshot=screenshot,
    )
    try:
        with trio.fail_after(PATIENCE * deadline):
            rendered = await browser.render(request)
    except RenderFailed as error:
        opened.take(SetCookies(tuple(error.set_cookies)), error.status or 0)
        raise _blamed(error) from None
    except trio.TooSlowError:
        why = f"it could not be rendered: the browser said nothing for {PATIENCE * deadline:g} s"
        raise NotRendered(Blame.LOCAL, why) from None
    opened.take(SetCookies(tuple(rendered.set_cookies)), rendered.status)
    if rendered.status != 200:
        raise failure(rendered.status, None)
    if len(rendered.html) > ports.settings.body_limit:
        raise LookFailed(Blame.CONTENT, f"the body can't be read: larger than {ports.settings.body_limit} bytes")
    return rendered


def _blamed(error: RenderFailed) -> LookFailed:
    """Return the failed look that a browser's failure is."""
    if error.blame == "local":
        return NotRendered(Blame.LOCAL, f"it could not be rendered: {error.reason}")
    if error.blame == "refused":
        return NotRendered(Blame.REMOTE_PERMANENT, f"refused by the guard: {error.reason}", status=error.status)
    if error.status is not None and error.status >= 400:
        return failure(error.status, None)
    return NotRendered(Blame.REMOTE_TRANSIENT, error.reason, status=error.status)


def _told(ports: Ports, claim: Ticket, url: Url, error: LookFailed) -> LookFailed:
    """Tell line and host of a failure that is not our own; return the failure as the line understands it.

    That a browser did not reach a host says nothing against our line, as if somebody had just named that host: a
    browser that is ill would have all looks held. While the line is down by the word of others, it is ours.
    """
    if error.blame is Blame.LOCAL:
        return error
    told = ports.egress.line.failed(url.host, error, asked=True)
    tell_host(ports, url, claim.name, told)
    return told


async def _check_where(ports: Ports, claim: Ticket, url: Url, rendered: Rendered) -> None:
    """Raise LookFailed when the browser was led to where a look must not go: it follows by itself."""
    try:
        there = parse_url(rendered.url, schemes=("http", "https"))
    except UrlRefused as refusal:
        raise LookRefused(refusal) from None
    if url.secure and not there.secure:
        raise LookRefused(UrlRefused("url-downgrade", f"redirects from https to http ({there.origin})"))
    if there.text != url.text:
        await ask_robots(ports, claim, there)


def _as_fetched(url: Url, rendered: Rendered) -> FetchedResponse:
    there = parse_url(rendered.url).text
    return FetchedResponse(
        url=there,
        status=rendered.status,
        headers={"content-type": HTML},
        body=rendered.html,
        content_type=HTML,
        etag=None,
        last_modified=None,
        retry_after=None,
        max_age=None,
        elapsed_ms=rendered.elapsed_ms,
        wire_bytes=rendered.wire_bytes,
        hops=() if there == url.text else (url.text,),
        rendered=rendered._replace(html=b"", set_cookies=()),  # the body is kept once
    )


def without_validators(fetched: FetchedResponse) -> FetchedResponse:
    """Return an answer after which the next look asks for the whole page again."""
    return replace(fetched, etag=None, last_modified=None)
