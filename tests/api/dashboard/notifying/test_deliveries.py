"""The attempts of a destination: filters, causes, details, and hostile answers as text."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.identity import Millis
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.rows import HOOK, a_hook, an_attempt, attempts
from tests.api.house import House, ids
from tests.support.build import NOW

ALL = f"/destinations/{HOOK}/deliveries"
HOUR = 3_600_000


def shown(browser: Browser) -> list[str]:
    return [
        str(link).rpartition("/")[2]
        for link in browser.page.xpath("//tbody//td/a[contains(@href,'/deliveries/')]/@href")
    ]


async def test_without_attempts_the_page_says_so(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(ALL)
    assert "Nothing was sent yet" in browser.text


async def test_a_delivery_is_named_by_its_event_while_the_log_has_it(house: House, browser: Browser) -> None:
    await a_hook(house)
    (kept,) = await house.publish("High water")
    attempts(house, an_attempt(ids([kept])[0], "sent"), an_attempt("a-digest-0000-0001", "sent"))
    for path in (ALL, f"/destinations/{HOOK}"):
        await browser.get(path)
        (link,) = browser.page.xpath("//td[@data-is='Delivery']/a")
        assert link.text_content() == "High water" and link.get("href") == f"/events/{ids([kept])[0]}"
        assert "…st-0000-0001" in browser.text and "The text of High water." in browser.text


async def test_attempts_are_filtered_by_result_time_cause_and_delivery(house: House, browser: Browser) -> None:
    await a_hook(house)
    attempts(
        house,
        an_attempt("e1", "sent", at=Millis(NOW - 3 * HOUR)),
        an_attempt("e2", "retry", at=Millis(NOW - 2 * HOUR)),
        an_attempt("e2", "given_up", status=None, error="timeout after 15.0 s", at=Millis(NOW - HOUR)),
    )
    await browser.get(ALL)
    assert shown(browser) == ["3", "2", "1"]
    for query, expected in (
        ("result=sent", ["1"]),
        ("result=given_up", ["3"]),
        ("cause=HTTP+503", ["2"]),
        ("delivery=e2", ["3", "2"]),
        ("start=2026-05-28T18:00&end=2026-05-28T19:00", ["2"]),
        ("result=sent&cause=HTTP+503", []),
    ):
        await browser.get(f"{ALL}?{query}")
        assert shown(browser) == expected, query
    assert "No such attempts" in browser.text
    await browser.get(f"{ALL}?start=yesterday")
    assert "was invalid" in browser.text and len(shown(browser)) == 3


async def test_long_lists_come_page_by_page(house: House, browser: Browser) -> None:
    await a_hook(house)
    attempts(house, *(an_attempt(f"e{number}", "sent") for number in range(120)))
    await browser.get(ALL)
    seen = shown(browser)
    while following := browser.page.xpath("//a[@rel='next']/@href"):
        await browser.get(following[0])
        seen += shown(browser)
    assert seen == [str(number) for number in reversed(range(1, 121))]


async def test_failures_are_grouped_by_cause_and_lead_to_their_attempts(house: House, browser: Browser) -> None:
    await a_hook(house)
    attempts(
        house, *(an_attempt(f"e{number}", "retry") for number in range(3)), an_attempt("e9", "given_up", status=410)
    )
    await browser.get(ALL)
    causes = [" ".join(one.text_content().split()) for one in browser.page.xpath("//ul[@class='causes']/li/p[1]")]
    assert causes[0].startswith("HTTP 503 3 attempts, 3 deliveries") and "1 given up" in causes[1]
    await browser.get(browser.page.xpath("//ul[@class='causes']//a/@href")[1])
    assert shown(browser) == ["4"]


async def test_an_attempt_shows_request_answer_and_next_step(house: House, browser: Browser) -> None:
    await a_hook(house)
    (event,) = await house.publish("price <b>of</b> hay")
    id = ids([event])[0]
    first = an_attempt(id, "retry", response_excerpt="<script>alert(1)</script>")
    attempts(house, first, replace(first, attempt=2, next_at=Millis(NOW + 1_800_000)))
    await browser.get(f"{ALL}/1")
    assert "POST https://hooks.test/in" in browser.text and id in browser.text
    assert "<script>alert(1)</script>" in browser.text and "HTTP 503" in browser.text
    assert "Attempt 3: 5 min (next)" in browser.text and "2 attempts, the newest first" in browser.text
    assert '"title": "price <b>of</b> hay"' in browser.text
    await browser.submit(f"/destinations/{HOOK}/replay")
    assert "1 delivery waits again" in browser.text
    for odd in ("99", "x", "-1", "9" * 40):
        assert (await browser.get(f"{ALL}/{odd}")).status_code == 404


async def test_a_digest_has_no_body_to_show(house: House, browser: Browser) -> None:
    await a_hook(house)
    attempts(house, an_attempt("not an event"))
    await browser.get(f"{ALL}/1")
    assert "It was a digest" in browser.text


async def test_one_delivery_needs_one_checkbox(house: House, browser: Browser) -> None:
    await a_hook(house)
    attempts(house, an_attempt("e1", "retry"), an_attempt("e1", "retry", attempt=2), an_attempt("e2"))
    await browser.get(ALL)
    assert browser.page.xpath("//input[@name='ids']/@value") == ["e2", "e1"]
