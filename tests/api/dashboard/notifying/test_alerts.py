"""The alert screens, without JavaScript."""

from __future__ import annotations

from msgspec.structs import replace

from actors.messages.views import SourceView
from api.dashboard.notifying.alerts import AlertForm, form_of
from api.dashboard.picker import LISTED, found
from api.nouns.alerts import PACE
from storage.records.alert import Alert
from storage.records.destination import Hit
from storage.records.event import Diff
from storage.records.identity import Seq
from storage.records.source import SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.support.build import NOW, a_draft, a_source, a_source_id


async def make(browser: Browser, **fields: object) -> str:
    """Make an alert by its form; return its path."""
    await browser.get("/alerts/new")
    await browser.submit("/alerts/new", {"when": "query", "filter_query": "price", **fields})
    assert browser.answer.status_code == 200, browser.text
    return browser.path


def test_a_form_shows_every_field_that_it_shares_with_the_alert() -> None:
    changed = {"channel": "prices", "notices": ("failing",), "notice_after": 60, "match": "page", "language": "de"}
    alert = replace(Alert("a1", "Prices", "price", "en", (), NOW, NOW, once_per_story=True), **changed)
    shown = set(AlertForm.__struct_fields__) - set(AlertForm.unshown)
    shared = shown.intersection(Alert.__struct_fields__)
    assert changed.keys() < shared and len(shared) == 11
    form = form_of(alert)
    assert {name: getattr(form, name) for name in shared} == {name: getattr(alert, name) for name in shared}


async def test_without_alerts_the_page_explains_alerts(browser: Browser) -> None:
    await browser.get("/alerts")
    assert "No alerts yet" in browser.text and browser.page.xpath("//a[@href='/alerts/new']")


async def test_an_alert_is_made_shown_and_listed(house: House, browser: Browser) -> None:
    path = await make(browser, name="Prices", channel="pricing")
    (alert,) = await house.storage.alerts.all()
    assert path == f"/alerts/{alert.id}"
    assert (alert.name, alert.filter_query, alert.channel, alert.source_ids) == ("Prices", "price", "pricing", ())
    assert "Alert created" in browser.text and "/v1/streams/pricing" in browser.text
    await house.storage.outbox.advance("m", None, Seq(1), [], house.storage.lease, hits=[Hit(alert.id, 7, NOW)])
    await browser.get("/alerts")
    assert "Prices" in browser.text and "English · all sources · channel pricing" in browser.text
    assert browser.page.xpath("//svg/@aria-label")[0].startswith("7 matches in the last 7 days")


async def test_a_query_is_tried_before_anything_is_made(house: House, browser: Browser) -> None:
    await house.publish("Old prices", a_draft("News", content="A new price for you"), "Weather")
    await browser.get("/alerts/new")
    form = {**dict(browser.form("/alerts/new").form_values()), "when": "query", "filter_query": "price OR nothing"}
    await browser.post("/alerts/try", {name: value for name, value in form.items() if name != "token"})
    assert browser.answer.status_code == 200
    assert "2 of 3 events would have matched" in browser.text
    assert browser.page.xpath("//section[@id='tried']//mark/text()") == ["price", "prices", "prices"]
    assert browser.page.xpath("//section[@id='tried']//li[@class='none']/code/text()") == ["nothing"]
    assert browser.form("/alerts/new").fields["filter_query"].lstrip() == "price OR nothing"
    assert not await house.storage.alerts.all()


async def test_an_invalid_query_is_marked_at_its_error(house: House, browser: Browser) -> None:
    for path in ("/alerts/new", "/alerts/try"):
        await browser.get("/alerts/new")
        await browser.post(path, {"filter_query": 'price OR "open', "language": "en"})
        assert browser.page.xpath("//mark[@class='here']/text()") == ['"'], browser.text
        assert "not closed" in browser.text
        assert browser.form("/alerts/new").fields["filter_query"].lstrip() == 'price OR "open'
    assert not await house.storage.alerts.all()


async def test_matches_are_shown_page_by_page(house: House, browser: Browser) -> None:
    await house.publish(*(f"price {number}" for number in range(25)))
    path = await make(browser)
    seen: list[str] = []
    while True:
        seen += browser.page.xpath("//ol[@class='events hits']/li/p[1]/a")
        seen[:] = [one if isinstance(one, str) else one.text_content() for one in seen]
        following = browser.page.xpath("//a[@rel='next']/@href")
        if not following:
            break
        await browser.get(following[0].partition("#")[0])
    assert seen == [f"price {number}" for number in reversed(range(25))]
    await browser.get(f"{path}?before=nonsense")
    assert "no such page" in browser.text


async def test_an_alert_is_over_sources_and_tags_also_of_later_sources(house: House, browser: Browser) -> None:
    await with_sources(house, 4)
    await browser.get("/alerts/new")
    await browser.submit(
        "/alerts/new",
        {"scope": "some", "tags": "label:even", "other_tags": " shop,  topic:sea ", "source_ids": a_source_id(3)},
    )
    (alert,) = await house.storage.alerts.all()
    assert (alert.source_ids, alert.tags) == ((a_source_id(3),), ("label:even", "label:shop", "topic:sea"))
    assert "site3.test/feed" in browser.text and "site2.test" not in browser.text
    assert "also when they are added or tagged later" in browser.text
    await browser.get("/alerts")
    assert "1 source and 3 tags" in browser.text
    await browser.get(f"/alerts/{alert.id}/edit")
    assert browser.page.xpath("//input[@name='tags'][@checked]/@value") == ["label:shop", "topic:sea", "label:even"]
    await browser.submit(f"/alerts/{alert.id}/edit", {"name": "Kept"})
    (kept,) = await house.storage.alerts.all()
    assert (kept.name, set(kept.tags), kept.source_ids) == ("Kept", set(alert.tags), alert.source_ids)


async def test_a_refused_form_of_a_tag_keeps_its_input(house: House, browser: Browser) -> None:
    await house.publish(a_draft("price 1", tags=("label:shop",)), "price 2")
    await browser.get("/alerts/new?tag=shop")
    assert browser.page.xpath("//input[@name='tags'][@checked]/@value") == ["label:shop"]
    await browser.post("/alerts/try", {"filter_query": "price", "scope": "some", "tags": "label:shop"})
    assert "1 of 1 event would have matched" in browser.text
    await browser.post(
        "/alerts/new", {"filter_query": "price", "scope": "some", "other_tags": ",".join("abc"), "tags": "label:"}
    )
    assert "label:: write <namespace>:<value>, or a word." in browser.text
    assert browser.page.xpath("//input[@name='other_tags']/@value") == ["a,b,c"]
    await browser.post(
        "/alerts/new", {"filter_query": "price", "scope": "some", "other_tags": ",".join(map(str, range(51)))}
    )
    assert "at most 50 tags; these are 51" in browser.text
    assert not await house.storage.alerts.all()


async def test_sources_are_chosen_shown_and_found_by_name(house: House, browser: Browser) -> None:
    source = a_source(1, found_title="Harbour notices")
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)
    await browser.get("/alerts/new")
    (label,) = browser.page.xpath("//input[@name='source_ids']/..")
    assert label.text_content().split() == ["Harbour", "notices", "site1.test/feed"]
    await browser.submit("/alerts/new", {"scope": "some", "source_ids": source.id})
    assert browser.page.xpath("//a[@href='/sources/" + source.id + "']/text()") == ["Harbour notices"]
    assert found([source], "HARBOUR feed") == [source]


async def test_an_alert_over_some_sources_needs_one(house: House, browser: Browser) -> None:
    """An alert without sources would watch the whole library."""
    await with_sources(house, 1)
    for path in ("/alerts/new", "/alerts/try"):
        await browser.get("/alerts/new")
        await browser.post(path, {"filter_query": "price", "scope": "some"})
        assert "Choose at least one tag or source" in browser.text
    assert not await house.storage.alerts.all()


async def test_the_form_lists_sources_with_the_words(house: House, browser: Browser) -> None:
    await with_sources(house, LISTED + 1)
    await browser.get("/alerts/new")
    assert not browser.page.xpath("//input[@name='source_ids']")
    await browser.post("/alerts/try", {"filter_query": "price", "find": "site17", "source_ids": a_source_id(5)})
    found = [each.text_content().split()[0] for each in browser.page.xpath("//input[@name='source_ids']/..")]
    assert found == ["site5.test/feed", "site17.test/feed", *(f"site{number}.test/feed" for number in range(170, 180))]


async def test_a_first_destination_is_made_with_it(house: House, browser: Browser) -> None:
    await make(browser, deliver="url", url="https://hooks.test/in", delivery_mode="hourly")
    (hook,) = await house.storage.alerts.destinations()
    assert (hook.url, hook.delivery_mode) == ("https://hooks.test/in", "hourly")
    assert hook.secrets[0].value in browser.text
    await make(browser, deliver="bin", filter_query="plan", url="https://unused.test/")
    (bin,) = await house.storage.bins.all()
    assert "a new test inbox" in browser.text
    assert sorted(bin.token in each.url for each in await house.storage.alerts.destinations()) == [False, True]


async def test_a_condition_is_chosen_in_place_of_a_query(house: House, browser: Browser) -> None:
    await browser.get("/alerts/new")
    chosen = {"when": "below", "than": "300", "scope": "all"}
    await browser.post("/alerts/try", chosen)
    assert browser.answer.status_code == 200 and browser.form("/alerts/new").fields["when"] == "below"
    await browser.submit("/alerts/new")
    (alert,) = await house.storage.alerts.all()
    assert alert.filter_query == "price<300" and "a price is below 300" in browser.text
    await browser.get("/alerts")
    assert "a price is below 300" in browser.text
    await browser.get("/alerts/new")
    for than, words in (("", "Fill in this field."), ("cheap", "Enter an amount")):
        await browser.submit("/alerts/new", {"when": "below", "than": than})
        assert words in browser.page.xpath("//small[@id='e-than']/text()")[0]
    assert len(await house.storage.alerts.all()) == 1


async def test_an_invalid_destination_is_refused_before_anything_is_created(house: House, browser: Browser) -> None:
    for url, words in (("http://plain.test/in", "https"), ("https://nowhere.test/", "no such name")):
        await browser.get("/alerts/new")
        await browser.submit("/alerts/new", {"when": "query", "filter_query": "price", "deliver": "url", "url": url})
        assert browser.answer.status_code == 422 and words in browser.text
        assert (
            browser.page.xpath("//*[@id='f-url' and @aria-invalid]")
            and browser.form("/alerts/new").fields["url"] == url
        )
    assert not await house.storage.alerts.all()


async def test_a_time_that_only_the_api_offers_stays_when_the_form_is_saved(house: House, browser: Browser) -> None:
    path = await make(browser)
    await house.storage.alerts.edit(path[-36:], lambda old: replace(old, notice_after=5400))
    await browser.get(f"{path}/edit")
    await browser.submit(f"{path}/edit", {"name": "Renamed"})
    alert = await house.storage.alerts.get(path[-36:])
    assert alert is not None and (alert.name, alert.notice_after) == ("Renamed", 5400)


async def test_a_trial_of_an_invalid_form_names_the_error(browser: Browser) -> None:
    await browser.get("/alerts/new")
    await browser.post("/alerts/try", {"filter_query": "price", "channel": "Not One"})
    (there,) = browser.page.xpath("//section[@id='tried']")
    assert "Channel: This has the wrong format" in there.text_content()


async def test_an_error_appears_next_to_its_field_and_keeps_the_input(house: House, browser: Browser) -> None:
    cases = (
        ({"channel": "Not One"}, "channel"),
        ({"channel": "alerts"}, "channel"),
        ({"name": "n" * 201}, "name"),
        ({"filter_query": "(price"}, "filter_query"),
        ({"deliver": "url"}, "url"),
    )
    for fields, field in cases:
        await browser.get("/alerts/new")
        await browser.submit("/alerts/new", {"when": "query", "filter_query": "price", **fields})
        assert browser.answer.status_code == 422, fields
        assert browser.page.xpath(f"//*[@id='f-{field}' and @aria-invalid]"), fields
        kept = browser.form("/alerts/new").fields
        assert {name: (kept[name] or "").lstrip() for name in fields} == fields
    assert not await house.storage.alerts.all()


async def test_an_alert_is_edited_paused_and_deleted(house: House, browser: Browser) -> None:
    path = await make(browser, name="Prices", notices=["source_quiet"])
    await browser.get(f"{path}/edit")
    await browser.submit(f"{path}/edit", {"name": "Plans", "filter_query": "plan", "language": "sv", "channel": ""})
    (alert,) = await house.storage.alerts.all()
    assert (alert.name, alert.filter_query, alert.language) == ("Plans", "plan", "sv")
    assert alert.notices == ("source_quiet",)
    await browser.submit(f"{path}/pause")
    assert "Paused. Earlier matches are still delivered." in browser.text
    await browser.submit(f"{path}/resume")
    await browser.submit(f"{path}/delete", {"confirm": "no"})
    assert browser.answer.status_code == 422 and await house.storage.alerts.all()
    await browser.submit(f"{path}/delete", {"confirm": "delete"})
    assert browser.path == "/alerts" and "“Plans” is deleted" in browser.text
    assert (await browser.get(path)).status_code == 404


async def test_an_edit_of_something_changed_meanwhile_is_refused(house: House, browser: Browser) -> None:
    path = await make(browser, name="Prices")
    await browser.get(f"{path}/edit")
    await house.storage.alerts.edit(path[-36:], lambda old: replace(old, name="By another"))
    await browser.submit(f"{path}/edit", {"name": "Mine"})
    assert browser.answer.status_code == 422 and "changed in another place" in browser.text
    assert browser.form(f"{path}/edit").fields["name"] == "Mine"


async def test_an_edit_is_tried_too(house: House, browser: Browser) -> None:
    await house.publish("Plan of the town")
    path = await make(browser)
    await browser.get(f"{path}/edit")
    await browser.post(f"{path}/try", {"filter_query": "plan", "revision": "x"})
    assert "1 of 1 event would have matched" in browser.text
    assert browser.form(f"{path}/edit").fields["revision"] == "x"


async def test_too_many_trials_are_refused_in_words(house: House, browser: Browser) -> None:
    await browser.get("/alerts/new")
    for _ in range(PACE.burst + 1):
        await browser.post("/alerts/try", {"filter_query": "price"})
    assert browser.answer.status_code == 200 and "previews at once" in browser.text


async def test_the_list_is_filtered_and_paged(house: House, browser: Browser) -> None:
    for number in range(60):
        alert = Alert(f"00000000-0000-7000-8000-{number:012d}", f"Alert {number}", "price", "en", (), NOW + number, NOW)
        await house.storage.alerts.put(alert)
    await browser.get("/alerts")
    names = browser.page.xpath("//tbody//th/a/text()")
    await browser.get(browser.page.xpath("//a[@rel='next']/@href")[0])
    names += browser.page.xpath("//tbody//th/a/text()")
    assert names == [f"Alert {number}" for number in reversed(range(60))]
    await browser.get("/alerts?q=alert+17")
    assert browser.page.xpath("//tbody//th/a/text()") == ["Alert 17"]
    await browser.get("/alerts?q=nothing")
    assert "No alert has these words" in browser.text


async def with_sources(house: House, count: int) -> None:
    """Add sources; even numbers get a tag."""
    for number in range(1, count + 1):
        source = a_source(number, tags=("label:even",) if number % 2 == 0 else ())
        await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)
        house.registry.views[source.id] = SourceView(source, SourceRuntime())


async def test_an_alert_reads_the_change_unless_another_part_is_chosen(house: House, browser: Browser) -> None:
    diff = Diff(("A price",), ("Opening hours",), ())
    await house.publish(a_draft("Shop", content="A price and a ticket", source_type="html", diff=diff))
    path = await make(browser, filter_query="hours OR ticket")
    assert "Searches" in browser.text and "Changes: added and removed text" in browser.text
    assert browser.page.xpath("//p[@class='excerpt']//mark/text()") == ["hours"]
    assert "removed:" in browser.text and "searches the whole text" not in browser.text
    await browser.get(f"{path}/edit")
    await browser.submit(f"{path}/edit", {"match": "page"})
    (alert,) = await house.storage.alerts.all()
    assert alert.match == "page"
    assert browser.page.xpath("//p[@class='excerpt']//mark/text()") == ["ticket"]
    await browser.get(f"{path}/edit")
    await browser.post(f"{path}/try", {"filter_query": "hours", "match": "removed"})
    assert "1 of 1 event would have matched" in browser.text


async def test_an_alert_on_the_whole_page_says_so_and_how_to_switch(house: House, browser: Browser) -> None:
    path = await make(browser)
    await house.storage.alerts.edit(path[-36:], lambda old: replace(old, match="page"))
    await browser.get(path)
    assert "searches the whole text" in browser.text
    assert browser.page.xpath(f"//a[@href='{path}/edit#f-match']")
    await browser.get(f"{path}/edit")
    assert browser.form(f"{path}/edit").fields["match"] == "page"
    assert "This alert searches the whole page" in browser.text
    await browser.submit(f"{path}/edit", {"match": "change"})
    assert "searches the whole text" not in browser.text


async def test_private_sources_are_listed_with_the_alerts_that_read_them(house: House, browser: Browser) -> None:
    await with_sources(house, 2)
    source = replace(a_source(1), title="Members")
    house.registry.views[source.id] = SourceView(source, SourceRuntime(private_since=NOW), private=True)
    house.private.add(source.id)
    path = await make(browser, scope="some", source_ids=[source.id])
    assert "Includes private sources: Members. Its destinations get their events." in browser.text
    await browser.get(f"/destinations/new?alert={path[-36:]}")
    assert "They include events of private sources: Members. The receiver will see them." in browser.text
    await browser.get(f"/sources/{source.id}")
    assert "Private: it is checked with headers or in your own network." in browser.text
    other = await make(browser, scope="some", source_ids=[a_source_id(2)])
    assert "private sources" not in browser.text
    for page in (f"/destinations/new?alert={other[-36:]}", f"/sources/{a_source_id(2)}"):
        await browser.get(page)
        assert "private sources" not in browser.text and "Private: " not in browser.text


async def test_a_new_alert_asks_when_on_and_whom_and_folds_the_rest(house: House, browser: Browser) -> None:
    await browser.get("/alerts/new?when=below")
    form = browser.form("/alerts/new")
    assert (form.fields["when"], form.fields["scope"], form.fields["deliver"]) == ("below", "all", "later")
    folded = {*browser.page.xpath("//form[@class='sides']//details//@name")}
    shown = {*browser.page.xpath("//form[@class='sides']//@name")} - folded - {"token"}
    assert shown == {"when", "than", "filter_query", "scope", "deliver", "url"}
    assert {"name", "match", "language", "delivery_mode", "once_per_story", "channel", "notices"} <= folded
    await browser.get("/alerts/new")
    await browser.submit("/alerts/new", {"deliver": "later"})
    (alert,) = await house.storage.alerts.all()
    assert alert.filter_query == "" and "The query is empty" not in browser.text
