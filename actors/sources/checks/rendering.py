"""Rendering of a page as politely as any other check: robots.txt, the host's turn, its breaker.

The result is a `FetchedResponse` as from a plain check, so readers of pages need not know about browsers. It has no
validators: equal bytes of the page do not mean equal script output.

A missing or crashed browser is our own fault, never the source's. The memory of a rendered page is never compared with
the page as sent: all of it would seem deleted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import trio

from actors.content.messages import BodyRequest, Finding
from actors.egress.cookies import SetCookies
from actors.egress.failures import Blame, CheckFailed, CheckRefused, NotRendered, failure
from actors.egress.headers import user_agent
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.sources.checks.access import Renewal, RequestAccess
from actors.sources.checks.fetch import BodyReading, at_host, check_robots, in_jail, page_deadline
from actors.sources.ports import Ports
from actors.world import Rendered, RenderFailed, RenderRequest
from storage.records.event import Draft, Picture, picture_of
from storage.records.identity import Millis
from storage.records.source import Source

PATIENCE: Final = 4.0  # a silent browser is given up after this factor of a page's deadline, since pages queue
NO_BROWSER: Final = "this service has no browser (its program lacks the extra that renders pages)"
STILL_EMPTY: Final = "a browser shows it, and it is still empty"
HTML: Final = "text/html; charset=utf-8"
_UNSEEN: Final = re.compile(rb"(script|style|svg|noscript|template)\b", re.IGNORECASE)
_MANY: Final = 400  # a page with more words, menus included, is not empty
_SCANNED: Final = 128 << 10


def unavailable(ports: Ports) -> str:
    return NO_BROWSER if ports.world.browser is None else ports.world.browser.lacks()


def may_be_shell(body: bytes) -> bool:
    """Return whether a page may be empty without its scripts, by a quick scan of its bytes.

    >>> may_be_shell(b"<div id=root></div><SCRIPT src=a.js></SCRIPT>"), may_be_shell(b"<p>Hello</p>")
    (True, False)
    """
    words, has_scripts, skipped = 0, False, b""
    for part in body[:_SCANNED].split(b"<")[1:]:
        if skipped:
            if part[:1] != b"/" or not part[1:].lower().startswith(skipped):
                continue
            skipped = b""
        elif (hidden := _UNSEEN.match(part)) is not None:
            skipped = hidden[1].lower()
            has_scripts = has_scripts or skipped == b"script"
            continue
        words += len(part.partition(b">")[2].split(None, _MANY))
        if words > _MANY:
            return False
    return has_scripts


async def render_page(
    ports: Ports,
    claim: TurnRequest,
    text: str,
    wait_for: str | None,
    *,
    robots: bool = True,
    screenshot: bool = False,
    renewal: Renewal,
) -> FetchedResponse:
    """Return a rendered page. Raises CheckFailed, also when robots.txt forbids it, and UrlRefused. robots: False if
    robots.txt was just consulted for this URL. renewal: has the cookies to send, and gets the browser's final ones.
    """
    url = parse_url(text, schemes=("http", "https"))
    if why := unavailable(ports):
        raise NotRendered(Blame.LOCAL, f"it could not be rendered: {why}")
    if robots:
        await check_robots(ports, claim, url)
    # A browser's failure to reach a host does not count against our uplink: a faulty browser would put all checks on
    # hold. But while other checks show that the uplink is down, the failure is ours.
    async with at_host(ports, claim, url, asked=True):
        request_access = RequestAccess(ports, url, renewal)
        with claim.steps.step("render", {"url.full": url.text, "server.address": url.host}):
            rendered = await _render(request_access, wait_for, screenshot=screenshot)
    try:
        final_url = parse_url(rendered.url, schemes=("http", "https"))
    except UrlRefused as refusal:
        raise CheckRefused(refusal) from None
    if url.secure and not final_url.secure:
        raise CheckRefused(UrlRefused("url-downgrade", f"redirects from https to http ({final_url.origin})"))
    if final_url.text != url.text:
        await check_robots(ports, claim, final_url)
    fetched = _as_response(url, rendered)
    if why := await empty_page_sign(ports, fetched):
        raise NotRendered(Blame.CONTENT, f"{STILL_EMPTY}: {why}", status=fetched.status)
    return fetched


async def empty_page_sign(ports: Ports, fetched: FetchedResponse) -> str:
    """Return the sign that a page is empty without its scripts, or "". Raises CheckFailed."""
    if fetched.status != 200 or not may_be_shell(fetched.body):
        return ""
    request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
    return (await in_jail(ports.world.jail, "detect", request, Finding, deadline=deadline)).shell


async def _render(request_access: RequestAccess, wait_for: str | None, *, screenshot: bool) -> Rendered:
    """Render a page. Its cookies are taken even if its status is a failure. Raises CheckFailed."""
    ports, url = request_access.ports, request_access.url
    browser, deadline = ports.world.browser, ports.settings.look_timeout
    assert browser is not None, "what lacks was asked before"
    request = RenderRequest(
        url=url.text,
        user_agent=user_agent(ports.settings.contact),
        headers=tuple((name.decode(), value.decode()) for name, value in request_access.headers()),
        wait_for=wait_for or "",
        deadline=deadline,
        screenshot=screenshot,
    )
    try:
        with trio.fail_after(PATIENCE * deadline):
            rendered = await browser.render(request)
    except RenderFailed as error:
        request_access.on_set_cookies(SetCookies(tuple(error.set_cookies)), error.status or 0)
        raise _as_failure(error) from None
    except trio.TooSlowError:
        why = f"it could not be rendered: the browser said nothing for {PATIENCE * deadline:g} s"
        raise NotRendered(Blame.LOCAL, why) from None
    request_access.on_set_cookies(SetCookies(tuple(rendered.set_cookies)), rendered.status)
    if rendered.status != 200:
        raise failure(rendered.status, None)
    if len(rendered.html) > ports.settings.body_limit:
        raise CheckFailed(Blame.CONTENT, f"the body can't be read: larger than {ports.settings.body_limit} bytes")
    return rendered


def _as_failure(error: RenderFailed) -> CheckFailed:
    if error.blame == "local":
        return NotRendered(Blame.LOCAL, f"it could not be rendered: {error.reason}")
    if error.blame == "refused":
        return NotRendered(Blame.REMOTE_PERMANENT, f"refused by the guard: {error.reason}", status=error.status)
    if error.status is not None and error.status >= 400:
        return failure(error.status, None)
    return NotRendered(Blame.REMOTE_TRANSIENT, error.reason, status=error.status)


def _as_response(url: Url, rendered: Rendered) -> FetchedResponse:
    final_url = parse_url(rendered.url).text
    return FetchedResponse(
        url=final_url,
        status=rendered.status,
        headers={"content-type": HTML},
        body=rendered.html,
        content_type=HTML,
        elapsed_ms=rendered.elapsed_ms,
        wire_bytes=rendered.wire_bytes,
        hops=() if final_url == url.text else (url.text,),
        rendered=rendered._replace(html=b"", set_cookies=()),  # the body is stored once
    )


def without_validators(fetched: FetchedResponse) -> FetchedResponse:
    return replace(fetched, etag=None, last_modified=None)


def screenshot_to_store(
    source: Source, fetched: FetchedResponse, reading: BodyReading | None, drafts: Sequence[Draft], at: Millis
) -> Picture | None:
    """Return the picture of a reported change, or of the first check; None if none was made, wanted or valid."""
    if not source.screenshots or fetched.rendered is None or not fetched.rendered.screenshot:
        return None
    is_first = reading is not None and reading.note is not None and reading.note.came == "baseline"
    if not is_first and all(draft.delta is None for draft in drafts):
        return None
    return picture_of(fetched.rendered.screenshot, at)


def without_screenshot(fetched: FetchedResponse) -> FetchedResponse:
    if fetched.rendered is None or not fetched.rendered.screenshot:
        return fetched
    return replace(fetched, rendered=fetched.rendered._replace(screenshot=b""))
