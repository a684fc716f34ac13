"""The page of a tag's defaults, and the settings that a source inherits from its tags."""

from __future__ import annotations

from msgspec.structs import replace

from actors.inheritance import effective
from actors.messages.views import SourceView
from storage.records.source import SourceRuntime, TagDefaults
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.storage.contract.builders import a_destination, an_alert
from tests.support.build import NOW, a_source

HOSTILE = "'>\"<b>bold</b>"

PATH = "/sources/tags/defaults"
FILLED = {
    "tag": "prices",
    "schedule": "15m",
    "hours": "weekdays 08-18 Europe/Stockholm",
    "bar": "0.4",
    "selector": "main",
    "ignore": "nav\n.ad",
    "revision": "",
}


async def test_defaults_of_a_folder_are_set_from_the_list_shown_and_taken_away(house: House, browser: Browser) -> None:
    put(house, 1, tags=("label:prices",))
    put(house, 2, tags=("label:prices/se",))
    await browser.get("/sources?tag=prices/*")
    link = browser.page.xpath("//a[text()='Defaults of this tag']/@href")[0]
    await browser.get(link)
    assert "1 source has this tag. 1 more has one below it." in browser.text
    await browser.post(PATH, FILLED)
    assert "Saved. Its sources follow" in browser.text
    kept = await house.storage.tag_defaults.get("label:prices")
    assert kept is not None and replace(kept, updated_at=NOW) == TagDefaults(
        "label:prices",
        NOW,
        900,
        "weekdays 08-18 Europe/Stockholm",
        0.4,
        "main",
        ("nav", ".ad"),
        updated_by="the dashboard",
    )
    shown = {one.get("name"): one.get("value") for one in browser.page.xpath("//input[@id]")}
    assert (shown["schedule"], shown["bar"], shown["selector"]) == ("15m", "0.4", "main")
    await browser.get("/sources/tags")
    assert browser.page.xpath("//td/a[contains(@href, 'tag=prices')]/text()")[0] == "Change"
    await browser.post(f"{PATH}/forget", {"tag": "prices"})
    assert "has no defaults any more" in browser.text and not await house.storage.tag_defaults.all()


async def test_an_error_appears_next_to_its_field_and_the_input_stays(house: House, browser: Browser) -> None:
    await browser.get(f"{PATH}?tag=prices")
    await browser.post(PATH, FILLED | {"schedule": "1s"})
    assert browser.answer.status_code == 422 and "an interval is from 1m to 7d" in browser.text
    assert browser.page.xpath("//input[@name='schedule']/@value") == ["1s"]
    await browser.post(PATH, FILLED | {"bar": "high", "schedule": "soon"})
    assert browser.page.xpath("//small[@id='e-bar']") and browser.page.xpath("//small[@id='e-schedule']")
    await browser.post(PATH, FILLED | {"ignore": "x" * 1001})
    assert browser.page.xpath("//small[@id='e-ignore']")
    await browser.post(PATH, {"tag": "prices", "revision": ""})
    assert "No default is set." in browser.text
    assert not await house.storage.tag_defaults.all()


async def test_a_concurrent_change_is_not_overwritten(house: House, browser: Browser) -> None:
    await browser.get(f"{PATH}?tag=prices")
    await house.storage.tag_defaults.edit("label:prices", lambda _: TagDefaults("label:prices", NOW, bar=0.3))
    await browser.post(PATH, FILLED)
    assert browser.answer.status_code == 422 and "in another place" in browser.text
    (revision,) = browser.page.xpath("//input[@name='revision']/@value")
    assert revision == "", "the form says still what it was made of"
    kept = await house.storage.tag_defaults.get("label:prices")
    assert kept is not None and kept.bar == 0.3


async def test_a_tag_that_is_none_or_the_services_own_has_no_page(browser: Browser) -> None:
    for tag in ("", "source_type:html", "topic:", "x" * 101):
        await browser.get(f"{PATH}?tag={tag}")
        assert browser.answer.status_code == 404, tag


async def test_the_defaults_of_any_tag_outlive_its_sources_in_the_list(house: House, browser: Browser) -> None:
    tag = f"label:{HOSTILE}"
    await house.storage.tag_defaults.edit(tag, lambda _: TagDefaults(tag, NOW, bar=0.3))
    await browser.get("/sources/tags")
    (link,) = browser.page.xpath("//a[starts-with(@href, '/sources/tags/defaults')]/@href")
    await browser.get(link)
    assert HOSTILE in browser.text and not browser.page.xpath("//main//b")


async def test_destinations_are_ticked_and_saved(house: House, browser: Browser) -> None:
    alert, hook = replace(an_alert(), name="Prices"), a_destination()
    await house.storage.alerts.put(alert)
    await house.storage.alerts.put_destination(hook)
    await browser.get(f"{PATH}?tag=prices")
    assert "of the alert Prices" in browser.text
    await browser.post(PATH, {"tag": "prices", "revision": "", "destinations": hook.id})
    assert browser.page.xpath("//input[@name='destinations' and @checked]/@value") == [hook.id]
    new = {"filter_query": "x", "scope": "some", "tags": "label:prices"}
    await browser.post("/alerts/new", new | {"deliver": "later"})
    assert "Its matches go to the destinations of its tags" in browser.text
    await browser.post("/alerts/new", new | {"deliver": "person"})
    told = [one.alert_id for one in await house.storage.alerts.destinations() if one.id != hook.id]
    assert len(told) == 1, "who chooses somebody gets no others"


async def test_a_source_shows_the_values_from_its_tags(house: House, browser: Browser) -> None:
    source = a_source(1, type="html", tags=("label:prices",), bar=0.6)
    by_tag = {"label:prices": TagDefaults("label:prices", NOW, schedule=900, bar=0.3, ignore=("nav", "<b>"))}
    view = SourceView(source, SourceRuntime(), inheriting=effective(source, by_tag))
    house.registry.views[source.id] = view
    for path in (f"/sources/{source.id}", f"/sources/{source.id}/edit"):
        await browser.get(path)
        told = " ".join(browser.text.split())
        assert "15m from the tag prices" in told and "nav <b> from the tag prices" in told, path
        assert "Reported from this score" not in told
    assert browser.page.xpath("//input[@name='schedule']/@value") == [""], "it is not its own"


async def test_a_source_takes_nothing_of_a_setting_of_its_tags_once_that_is_ticked(
    house: House, browser: Browser
) -> None:
    source = put(house, 1, type="html", tags=("label:prices",))
    edit = f"/sources/{source}/edit"
    await browser.get(edit)
    assert "Not from its tags" not in browser.text, "there is nothing to refuse"
    put(house, 1, type="html", tags=("label:prices",), own_only=("bar",))
    await browser.get(edit)
    ticked = browser.page.xpath("//input[starts-with(@name, 'own_')][@checked]/@name")
    assert ticked == ["own_bar"] and "Not from its tags" in browser.text
    await browser.submit(edit, {"own_bar": "", "own_ignore": "true", "own_hours": "true"})
    assert house.registry.views[source].source.own_only == ("hours", "ignore")
