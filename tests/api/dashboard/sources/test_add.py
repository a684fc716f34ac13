from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import Overloaded, Unprocessable, UrlRefused
from actors.messages.previews import FilledBy, Preview, Rendering
from actors.messages.sources import AddSource, DetectUrl
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.previews import of_a_feed, of_a_page, of_a_stream
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House

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


async def test_each_url_has_its_line_and_the_good_ones_are_added(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    house.registry.refusals["https://10.0.0.1/"] = INSIDE
    await pasted(browser, "a.test/1\nhttps://10.0.0.1/\na.test/2\na.test/1", tags="sea")
    assert "2 of 3 can be added" in browser.text and "10.0.0.1 is not public" in browser.text
    assert not asked(house, AddSource)
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.split() == ["https://10.0.0.1/"]  # to correct
    await browser.submit("/sources/chosen")
    assert [one.new.url for one in asked(house, AddSource)] == ["https://a.test/1", "https://a.test/2"]
    assert {(one.new.title, one.new.tags) for one in asked(house, AddSource)} == {("", ("label:sea",))}
    assert browser.path == "/sources" and "2 sources watched from now on." in browser.text


async def test_more_than_twenty_wait_in_the_field(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_page()
    urls = [f"https://a.test/{number}" for number in range(23)]
    await pasted(browser, "\n".join(urls))
    assert len(asked(house, DetectUrl)) == 20 and "3 more wait" in browser.text
    await browser.submit("/sources/chosen")
    assert len(asked(house, AddSource)) == 20
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.split() == urls[20:]


async def test_a_url_that_fails_when_added_stays_in_the_field(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    await pasted(browser, "a.test/1\na.test/2")
    house.registry.refusals["https://a.test/2"] = INSIDE
    await browser.submit("/sources/chosen")
    assert "Added 1 of 2" in browser.text and "10.0.0.1 is not public" in browser.text
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.split() == ["https://a.test/2"]


async def test_unwatchable_lines_all_stay_in_the_field(house: House, browser: Browser) -> None:
    urls = [f"https://10.0.0.1/{number}" for number in range(22)]
    house.registry.refusals |= dict.fromkeys(urls, INSIDE)
    await pasted(browser, "\n".join(urls))
    assert "0 of 20 can be added" in browser.text and not browser.page.xpath("//button[text()='Watch the ticked ones']")
    assert browser.page.xpath("//textarea[@name='urls']")[0].value.split() == urls


async def test_nothing_ticked_or_a_forged_tick_adds_nothing(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    await pasted(browser, "a.test/1\na.test/2")
    await browser.submit("/sources/chosen", {"pick": []})
    assert browser.answer.status_code == 422 and "Nothing was selected" in browser.text
    kept = browser.page.xpath("//textarea[@name='urls']")[0].value.split()
    assert kept == ["https://a.test/1", "https://a.test/2"]
    await browser.post("/sources/chosen", {"pick": ['{"url": 3}']})
    assert browser.answer.status_code == 422 and "Paste the URLs again" in browser.text
    assert not asked(house, AddSource)


async def test_a_watched_url_links_to_its_source(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    source = put(house, 1, url=URL)
    await browser.get("/sources/add")
    await browser.post("/sources/add", {"urls": URL, "title": "Again"})
    assert browser.path == f"/sources/{source}" and "watched already" in browser.text


async def test_a_urls_own_title_stays_text(house: House, browser: Browser) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7919*7927}}"
    house.registry.preview = of_a_feed(hostile, title=hostile)
    for urls in ("a.test/1", "a.test/1\na.test/2"):
        await pasted(browser, urls)
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


async def test_unreachable_urls_are_added_only_when_ticked(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_feed()
    house.registry.refusals["https://a.test/"] = unreached()
    house.registry.refusals["https://c.test/"] = Unprocessable("it is a PDF", "body.url")
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": "https://a.test/\nhttps://b.test/\nhttps://c.test/"})
    picks = browser.page.xpath("//input[@name='pick']")
    assert [bool(pick.get("checked")) for pick in picks] == [False, True]
    await browser.submit("/sources/chosen", {"pick": [pick.get("value") for pick in picks]})
    assert sorted(view.source.url for view in house.registry.views.values()) == ["https://a.test/", "https://b.test/"]


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
