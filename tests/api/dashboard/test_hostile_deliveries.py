"""X12: data of sources, receivers and readers is only text on the pages of alerts and deliveries."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from msgspec.structs import replace

from actors.messages.views import SourceView
from storage.records.alert import Alert
from storage.records.source import SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.inert import PAYLOADS, check_inert
from tests.api.dashboard.rows import ALERT, HOOK, a_hook, an_attempt, attempts
from tests.api.house import House, ids
from tests.support.build import NOW, a_draft, a_source


async def furnished(house: House, text: str) -> str:
    """Put a text into every field of alerts and deliveries; return the id of an event with it."""
    source = a_source(1, url=f"https://site1.test/{quote(text)}", tags=(f"label:{text}",))
    await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    (event,) = await house.publish(a_draft(text, content=f"A price {text} and more.", url=text))
    await a_hook(house, label=text, url=f"https://hooks.test/{quote(text)}?{text}")
    alert = Alert(ALERT, text, f"price OR {text}", "en", (source.id,), NOW, NOW, template=text)
    await house.storage.alerts.put(alert)
    said = text.encode("unicode_escape").decode()
    line = an_attempt(ids([event])[0], "retry", error=f"HTTP 503 {text}", response_excerpt=said)
    attempts(house, line, replace(line, attempt=2, status=None, error=text))
    return ids([event])[0]


PAGES = (
    "/alerts",
    "/alerts?q={}",
    "/alerts/new",
    "/alerts/new?q={}",
    f"/alerts/{ALERT}",
    f"/alerts/{ALERT}?before={{}}",
    f"/alerts/{ALERT}/edit",
    "/destinations",
    "/destinations?q={}",
    "/destinations/new",
    f"/destinations/new?alert={ALERT}&url={{}}",
    f"/destinations/{HOOK}",
    f"/destinations/{HOOK}/edit",
    f"/destinations/{HOOK}/deliveries",
    f"/destinations/{HOOK}/deliveries?cause={{}}&start={{}}",
    f"/destinations/{HOOK}/deliveries/1",
    f"/destinations/{HOOK}/deliveries/2",
)


@pytest.mark.parametrize("text", PAYLOADS)
async def test_x12_no_page_takes_it_for_more_than_text(house: House, browser: Browser, text: str) -> None:
    await furnished(house, text)
    for path in PAGES:
        await browser.get(path.replace("{}", quote(text[:40], safe="")))
        assert browser.answer.status_code in (200, 400), (path, browser.text)
        check_inert(browser.page)


@pytest.mark.parametrize("text", PAYLOADS)
async def test_x12_no_form_that_is_refused_gives_it_back_alive(house: House, browser: Browser, text: str) -> None:
    await furnished(house, text)
    await browser.get("/alerts/new")
    for action, fields in (
        ("/alerts/new", {"when": "query", "filter_query": f'"{text}', "name": text, "channel": text, "deliver": "url"}),
        ("/alerts/try", {"filter_query": text, "name": text, "find": text}),
        (f"/alerts/{ALERT}/try", {"filter_query": text, "revision": text}),
        ("/destinations/new", {"alert": ALERT, "url": text, "label": text, "digest_timezone": text[:64]}),
        (f"/destinations/{HOOK}/edit", {"url": text, "revision": text}),
        (f"/destinations/{HOOK}/replay", {"since": text, "until": text}),
        (f"/destinations/{HOOK}/delete", {"confirm": text}),
    ):
        await browser.post(action, fields)
        assert browser.answer.status_code in (200, 422), (action, browser.text)
        check_inert(browser.page)
