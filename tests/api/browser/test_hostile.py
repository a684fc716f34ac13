"""X12: hostile text runs nothing, loads nothing and links only to the web, on every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.sax.saxutils import escape

import pytest

from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Entry, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.api.dashboard.hostile import PAYLOADS
from tests.support.waiting import wait_until

A_FEED = 50
LINKS = """[...document.querySelectorAll('[href], [src], [action], [formaction]')].filter(e => {
  const to = new URL(e.href?.baseVal ?? e.formAction ?? e.action ?? e.src ?? e.href, location);
  if (to.origin === location.origin && !e.matches('[target]')) return false;
  return !(e.matches('a') && ['http:', 'https:'].includes(to.protocol) && /noopener noreferrer/.test(e.rel));
}).map(e => e.outerHTML)"""
ODD = """[...document.querySelectorAll(`iframe, object, embed, style, base, math, template, meta[http-equiv],
  script:not([type=module][src^='/assets/']), img:not([src^='/assets/']), [style], [onload], [onerror], [onfocus],
  [ontoggle], [onmouseover], [autofocus]:not(#faults, #f-password)`)].map(e => e.outerHTML)"""


@pytest.fixture
def tab(new_tab: NewTab) -> Tab:
    """A tab that notices if an injected script runs."""
    tab = new_tab()
    tab.page.add_init_script("globalThis.zq = globalThis.alert = () => { globalThis.ran = true; }")
    return tab


@pytest.fixture(scope="module")
def ids(service: Service, origin: Origin) -> Iterator[dict[str, str]]:
    """A service with every payload in every field."""
    ids: dict[str, str] = {}
    texts = [text.replace("\x00", "") for text in PAYLOADS]
    for start in range(0, len(texts), A_FEED):
        entries = [as_text(one, number) for number, one in enumerate(texts[start : start + A_FEED])]
        body = {"backfill": A_FEED, "title": texts[start], "tags": [texts[start][:90].replace(",", "")]}
        ids["feed"] = service.add(origin.feed(f"/feed/{start}", texts[start], entries), **body)["id"]
    page = origin.page("/page", texts[0], texts)
    ids["page"] = service.add(page, title=texts[5], selector="main, title")["id"]
    origin.page("/page", texts[1], [f"{one} now" for one in texts])
    service.look(ids["page"])
    refused = origin.feed("/refused", texts[2], [Entry("x")])
    ids["refused"] = service.add(refused, title=texts[3])["id"]
    origin.says["/refused"] = Answer(texts[0], 503, texts[0].replace("\n", ""))
    service.look(ids["refused"])
    _deliver(service, origin, ids, texts)
    yield ids


def as_text(payload: str, number: int) -> Entry:
    """Return an entry with the payload, escaped once, in every field."""
    text = escape(payload)
    return Entry(text, text, f"{payload}#{number}", text, payload)


def _deliver(service: Service, origin: Origin, ids: dict[str, str], texts: list[str]) -> None:
    query = " OR ".join(f'"{one}"' for one in ("onerror", "script", "zq"))
    ids["alert"] = service.ask("POST", "/v1/alerts", {"name": texts[9][:200], "filter_query": query})["id"]
    origin.says["/hook"] = Answer("".join(texts)[:2000], 500, media="text/html")
    hook = {"url": f"{origin.url}/hook?x=%3Cscript%3E", "label": texts[4][:200]}
    ids["hook"] = service.ask("POST", f"/v1/alerts/{ids['alert']}/destinations", hook)["id"]
    made = service.ask("POST", "/v1/publications", {"title": texts[11][:200], "tags": [texts[12][:200]]})
    ids["publication"], ids["published"] = made["id"], made["url"].removeprefix(service.url)
    bin = service.ask("POST", "/v1/webhook-bins", {})
    ids["bin"] = bin["id"]
    for one in texts[::40]:
        headers = {"X-Payload": one.encode("ascii", "replace"), "Content-Type": "text/html", "webhook-id": "<script>"}
        service.api.post(f"{bin['url']}/%3Cscript%3Ezq()", content=json.dumps(texts).encode(), headers=headers)
    origin.page("/page", texts[7], [f"{one} later" for one in texts])
    service.look(ids["page"])
    wait_until(lambda: service.ask("GET", f"/v1/destinations/{ids['hook']}/deliveries"))


def check(tab: Tab) -> None:
    """Assert that the current page shows hostile data as text only."""
    found = tab.run(f"JSON.stringify([globalThis.ran ?? false, {LINKS}, {ODD}])")
    assert json.loads(found) == [False, [], []], tab.path


def test_x12_no_page_runs_or_loads_web_content(tab: Tab, ids: dict[str, str]) -> None:
    pages = [
        "/",
        "/sources",
        *(f"/sources/{ids[name]}" for name in ("feed", "page", "refused")),
        f"/sources/{ids['page']}/edit",
        f"/sources/{ids['page']}?text=%3Cscript%3Ezq()%3C/script%3E",
        "/sources?q=%22%3E%3Cscript%3Ezq()&tag=%27%3E%3Cimg+src=x+onerror=zq()%3E",
        "/alerts",
        f"/alerts/{ids['alert']}",
        f"/alerts/{ids['alert']}/edit",
        "/destinations",
        f"/destinations/{ids['hook']}",
        f"/destinations/{ids['hook']}/deliveries",
        "/publications",
        f"/publications/{ids['publication']}",
        ids["published"],
        "/webhook-bins",
        f"/webhook-bins/{ids['bin']}",
        *(f"/webhook-bins/{ids['bin']}/captures/{number}" for number in range(1, 6)),
        "/system",
        "/keys",
        "/sign-in?next=javascript:zq()",
        "/sources/%3Cscript%3Ezq()%3C/script%3E",
    ]
    for page in pages:
        check(tab.open(page))


def test_x12_two_hundred_events_are_text_in_the_lists_and_on_their_pages(tab: Tab, ids: dict[str, str]) -> None:
    seen: dict[str, str] = {}
    tab.open("/stream")
    while True:
        check(tab)
        links = tab.page.locator("#events li p:first-child a")
        seen |= links.evaluate_all("links => Object.fromEntries(links.map(a => [a.pathname, a.textContent]))")
        more = tab.page.get_by_role("link", name="More", exact=True)
        if not more.count():
            break
        more.click()
        tab.page.wait_for_load_state()
    assert len(seen) >= len(PAYLOADS)
    assert len([one for one in seen.values() if "zq" in one and "<" in one]) > 150, seen
    for path in seen:
        tab.page.goto(tab.url + path, wait_until="domcontentloaded")
        check(tab)


def test_x12_live_updates_are_inserted_as_text(tab: Tab, service: Service, origin: Origin, ids: dict[str, str]) -> None:
    tab.open("/stream").sees("Live")
    hostile = "<img src=x onerror=zq()><script>zq()</script> has come"
    late = Entry(escape(hostile), link="javascript:zq()")
    source = service.add(origin.feed("/late", "Late", [Entry("first")]))["id"]
    origin.feed("/late", "Late", [Entry("first"), late])
    service.look(source)
    assert tab.sees("has come").inner_text() == hostile
    check(tab)


def test_x12_fetched_content_is_never_served_as_a_page(tab: Tab, service: Service, ids: dict[str, str]) -> None:
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in tab.context.cookies())
    path = f"/webhook-bins/{ids['bin']}/captures/1/body"
    answer = service.api.get(path, headers={"Cookie": cookies})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].split(";")[0] in ("text/plain", "application/octet-stream")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
