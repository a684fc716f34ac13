from __future__ import annotations

from typing import Any

import pytest
import trio.testing
from msgspec.structs import replace

from actors.errors import Overloaded, Unprocessable, UrlRefused
from actors.messages.requests import FilledBy, FoundValue, Preview, Rendering
from actors.messages.sources import AddSource, DetectUrl
from storage.records.source import SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.rows import ALERT, HOOK, a_hook
from tests.api.dashboard.sources.previews import of_a_feed, of_a_page, of_a_stream
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.support.build import a_source

URL = "https://a.test/feed"
INSIDE = UrlRefused("address-private", "10.0.0.1 is not public")


async def pasted(browser: Browser, urls: str, **more: Any) -> None:
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": urls, **more})


def asked(house: House, kind: type) -> list[Any]:
    return [message for message in house.registry.seen if isinstance(message, kind)]


async def test_the_url_field_is_filled_from_the_query(browser: Browser) -> None:
    await browser.get("/sources/add?url=https%3A%2F%2Fa.test%2F%22%3E")
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.strip() == 'https://a.test/">'


async def test_one_url_is_shown_with_its_evidence_and_added_only_then(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    await pasted(browser, "a.test/feed")
    assert asked(house, DetectUrl)[0].request.url == URL and not asked(house, AddSource)
    for words in ("root element <rss>", "High water on Sunday", "The 25 present entries", "The second check"):
        assert words in browser.text
    (named,) = browser.page.xpath("//input[@name='title']")
    assert (named.get("value"), named.get("placeholder")) == ("", "Tide tables"), "not the user's own name yet"
    fields = {"title": "Tides", "tags": "sea, topic:ports", "schedule": "10m", "backfill": "3"}
    await browser.submit("/sources/add", fields)
    added = asked(house, AddSource)[0].new
    assert (added.url, added.title, added.tags) == (URL, "Tides", ("label:sea", "topic:ports"))
    assert (added.schedule, added.backfill) == ("10m", 3)
    assert browser.path.startswith("/sources/") and "Source added." in browser.text


async def test_selectors_are_tried_out_before_anything_is_added(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_page()
    await pasted(browser, "https://a.test/prices", type="html")
    assert "34 blocks" in browser.text and "left out: menu" in browser.text and "robots.txt allows it." in browser.text
    form = {"selector": "main", "ignore": ".ad, .tip\n#x", "tags": "mine", "type": "html"}
    await browser.post("/sources/look", {"urls": "https://a.test/prices", **form})
    wish = asked(house, DetectUrl)[-1].request
    assert (wish.selector, wish.ignore, wish.type) == ("main", (".ad, .tip", "#x"), "html")
    assert "The selector keeps 1 element" in browser.text
    await browser.submit("/sources/add")
    added = asked(house, AddSource)[0].new
    assert (added.selector, added.ignore, added.tags) == ("main", (".ad, .tip", "#x"), ("label:mine",))


async def test_a_stream_preview_shows_frames_and_which_would_be_reported(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_stream()
    await pasted(browser, "wss://a.test/x", filter="tide", hello="sub", type="push")
    assert "7 frames arrived in 3.0 s" in browser.text and "closed by the server" in browser.text
    assert browser.page.xpath("//span[contains(@class,'badge')]/text()")  # the kind
    assert asked(house, DetectUrl)[0].request.filter == "tide"


@pytest.mark.parametrize(
    ("urls", "more", "field", "words"),
    [
        ("# nothing\n", {}, "urls", "Paste at least one URL"),
        ("", {}, "urls", "Fill in this field"),
        (f"https://a.test/{'x' * 2100}", {}, "urls", "at most 2,048 characters"),
        (URL, {"schedule": "soon"}, "schedule", "wrong format"),
        (URL, {"ignore": "a" * 1001}, "ignore", "At most 1000 characters"),
        (URL, {"bar": "7"}, "bar", "0.9 or less"),
        (URL, {"type": "fax"}, "type", "Choose one from the list"),
    ],
)
async def test_an_error_appears_next_to_its_field_and_keeps_the_input(
    house: House, browser: Browser, urls: str, more: dict[str, str], field: str, words: str
) -> None:
    await pasted(browser, urls, **{"title": "My own", **more})
    assert browser.answer.status_code == 422 and words in browser.text
    assert browser.page.xpath("//input[@name='title']/@value") == ["My own"]
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.strip() == urls.strip()
    assert not asked(house, DetectUrl)
    assert field in [href.removeprefix("#f-") for href in browser.page.xpath("//div[@id='faults']//a/@href")]


@pytest.mark.parametrize(
    ("error", "field", "words"),
    [
        (INSIDE, "urls", "10.0.0.1 is not public."),
        (Unprocessable("it can't be watched now: 404", "body.url"), "urls", "It can't be watched now: 404."),
        (Unprocessable("no CSS at character 3", "body.selector"), "selector", "No CSS at character 3."),
        (Overloaded("our own network is in trouble"), "urls", "Our own network is in trouble."),
    ],
)
async def test_a_refused_check_is_reported_next_to_its_field(
    house: House, browser: Browser, error: Exception, field: str, words: str
) -> None:
    house.registry.refusals[URL] = error
    await pasted(browser, URL, selector="main")
    assert browser.answer.status_code == 422
    (said,) = browser.page.xpath(f"//small[@id='e-{field}']/text()")
    assert words in said
    assert browser.page.xpath("//input[@name='selector']/@value") == ["main"]
    await browser.submit("/sources/look", {"urls": "https://b.test/"})
    assert browser.answer.status_code == 200


async def test_several_urls_are_a_list_that_is_added_in_the_background(house: House, browser: Browser) -> None:
    await pasted(browser, f"a.test/1\n{URL}\na.test/2\na.test/1\nmailto:x", tags="sea")
    assert "3 would be added" in browser.text and "1 refused" in browser.text
    assert not asked(house, DetectUrl) and not asked(house, AddSource)
    await browser.submit("/sources/import")
    await trio.testing.wait_all_tasks_blocked()
    added = sorted((one.new.url, one.new.tags) for one in asked(house, AddSource))
    assert added == [(url, ("label:sea",)) for url in ("https://a.test/1", "https://a.test/2", URL)]


async def kept(house: House, number: int, url: str) -> None:
    """Store the source that the registry will add, as alerts name only stored ones."""
    source = a_source(number, url=url)
    await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)


async def test_a_price_is_offered_as_a_condition_and_the_alert_is_made_with_the_source(
    house: House, browser: Browser
) -> None:
    house.registry.preview = of_a_page(values=(FoundValue("money", "349 £", "349", "Kettle", "", "GBP"),))
    await pasted(browser, "https://a.test/kettle")
    assert "£349" in browser.text and "349 £" not in browser.text
    fields = browser.form("/sources/add").fields
    assert (fields["when"], fields["than"], fields["deliver"]) == ("below", "349", "later")
    await kept(house, 1, "https://a.test/kettle")
    await browser.submit("/sources/add", {"than": "300"})
    (alert,) = await house.storage.alerts.all()
    (source,) = house.registry.views
    assert (alert.filter_query, alert.source_ids) == ("price<300", (source,))
    assert alert.name == f"{house.registry.views[source].source.called}: price<300"
    assert browser.path == f"/sources/{source}" and "no one is notified" in browser.text


async def test_one_of_several_prices_can_be_meant(house: House, browser: Browser) -> None:
    values = [
        FoundValue("money", f"{n} £", str(n), "", f"$.plans[{name}]", "") for n, name in ((5, "Team"), (9, "Pro"))
    ]
    house.registry.preview = of_a_page(values=tuple(values))
    await pasted(browser, "https://a.test/plans")
    await kept(house, 1, "https://a.test/plans")
    await browser.submit("/sources/add", {"which": 'path:"$.plans[Pro]"', "than": "8"})
    (alert,) = await house.storage.alerts.all()
    assert alert.filter_query == 'path:"$.plans[Pro]" price<8'


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"when": "below"}, "than", "Fill in this field."),
        ({"when": "below", "than": "cheap"}, "than", "Enter an amount, such as 300."),
        ({"when": "query", "than": "prise<300"}, "than", "did you mean price<300?"),
        ({"when": "any", "deliver": "slack"}, "url", "Enter the address"),
        ({"when": "any", "deliver": "url", "url": "http://plain.test/"}, "url", "https"),
        ({"when": "any", "deliver": "url", "url": "https://10.0.0.1/in"}, "url", "with --allow-networks 10.0.0.1/32."),
    ],
)
async def test_a_wrong_condition_stands_beside_what_was_found_and_adds_nothing(
    house: House, browser: Browser, fields: dict[str, str], field: str, words: str
) -> None:
    house.registry.preview = of_a_page()
    await pasted(browser, "https://a.test/prices")
    await browser.submit("/sources/add", {"than": "", **fields})
    assert browser.answer.status_code == 422
    (said,) = browser.page.xpath(f"//small[@id='e-{field}']/text()")
    assert words in said and "34 blocks" in browser.text
    label = browser.page.xpath(f"//label[@for='f-{field}']/text()")[0].strip()
    assert browser.page.xpath("//*[@id='faults']//li/a/text()") == [label]
    assert browser.form("/sources/add").fields["when"] == fields["when"]
    assert not asked(house, AddSource) and not await house.storage.alerts.all()


async def test_a_chosen_destination_is_copied_and_a_kind_with_more_fields_is_asked_for(
    house: House, browser: Browser
) -> None:
    house.registry.preview = of_a_page()
    await a_hook(house)
    await pasted(browser, "https://a.test/1")
    await kept(house, 1, "https://a.test/1")
    await browser.submit("/sources/add", {"when": "words", "than": "sold out", "deliver": HOOK})
    assert "Its present content is the baseline; changes from now on are reported. Alert created." in browser.text
    alert = next(one for one in await house.storage.alerts.all() if one.id != ALERT)
    assert alert.filter_query == "sold out"
    (copy,) = await house.storage.alerts.destinations(alert.id)
    assert "Its matches go to" in browser.text and copy.id != HOOK
    await pasted(browser, "https://a.test/2")
    await kept(house, 2, "https://a.test/2")
    await browser.submit("/sources/add", {"when": "any", "deliver": "telegram"})
    assert browser.path.startswith("/destinations/new?alert=") and browser.path.endswith("&kind=telegram")


async def test_a_watched_url_links_to_its_source(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    source = put(house, 1, url=URL)
    await browser.get("/sources/add")
    await browser.post("/sources/add", {"urls": URL, "title": "Again"})
    assert browser.path == f"/sources/{source}" and "watched already" in browser.text


async def test_a_urls_own_title_stays_text(house: House, browser: Browser) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7919*7927}}"
    house.registry.preview = of_a_feed(hostile, title=hostile)
    await pasted(browser, "a.test/1")
    assert "<script>alert(1)</script>" in browser.text and "62773913" not in browser.text
    assert not browser.page.xpath("//main//script | //main//img | //@onerror")
    house.registry.preview = Preview(house.registry.preview.fetched_at)
    await pasted(browser, "a.test/1")
    assert browser.answer.status_code == 200


def unreached() -> Unprocessable:
    error = Unprocessable("it can't be watched now: answered 503", "body.url", "https://a.test/")
    error.may_pass = True
    return error


async def test_an_unreachable_url_can_be_added_for_later(house: House, browser: Browser) -> None:
    house.registry.refusals["https://a.test/"] = unreached()
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": "https://a.test/"})
    assert "answered 503" in browser.text and len(house.registry.views) == 0
    await browser.submit("/sources/add", {"title": "Mine"})
    (view,) = house.registry.views.values()
    assert (view.source.url, view.source.title, view.source.detection.pending) == ("https://a.test/", "Mine", True)
    assert "has not answered yet" in browser.text


async def test_a_page_that_is_empty_without_scripts_says_so_and_offers_its_json(house: House, browser: Browser) -> None:
    filled = FilledBy("https://a.test/api/items?page=1", 14_000)
    says = "This page is empty without JavaScript: <b>, 100 times."
    house.registry.preview = replace(of_a_page(), rendering=Rendering(says, "<b>", True, 100, (filled,)))
    await pasted(browser, "https://a.test/app")
    assert says in browser.text and "100 checks for the price of one" in browser.text
    assert "only if it is empty without JavaScript" in browser.text
    (form,) = browser.page.xpath("//form[.//button[text()='Watch that instead']]")
    assert form.get("action") == "/sources/add"
    await browser.post("/sources/add", {"urls": form.xpath(".//input[@name='urls']/@value")[0]})
    assert asked(house, AddSource)[0].new.url == filled.url


async def test_rendering_is_chosen_in_the_add_form(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_page()
    await pasted(browser, "https://a.test/app", render="always", wait_for="#prices li")
    wish = asked(house, DetectUrl)[0].request
    assert (wish.render, wish.wait_for) == ("always", "#prices li")
    await browser.submit("/sources/add")
    new = asked(house, AddSource)[0].new
    assert (new.render, new.wait_for) == ("always", "#prices li")


async def test_the_summary_of_errors_calls_a_field_by_its_label(browser: Browser) -> None:
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": "x" * 3_000})
    (summary,) = browser.page.xpath("//*[@id='faults']")
    assert "URLs, one a line: A URL has at most" in " ".join(summary.text_content().split())
    assert "Urls" not in browser.text
