"""Tags as folders with counts, and the renaming of a tag."""

from __future__ import annotations

import pytest

from actors.errors import Conflict
from actors.messages.sources import EditSource
from storage.records.alert import Alert
from storage.records.source import TagDefaults
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.test_listing import put, rows
from tests.api.house import House
from tests.support.build import NOW

HOSTILE = "<b>x"


async def alert_over(house: House, *tags: str) -> Alert:
    alert = Alert(
        id=house.context.world.new_id(),
        created_at=NOW,
        updated_at=NOW,
        name="A",
        source_ids=(),
        filter_query="",
        language="simple",
        tags=tags,
    )
    await house.storage.alerts.put(alert)
    return alert


def folders(browser: Browser) -> list[str]:
    links = browser.page.xpath("//header//nav[@aria-label='Tags']//a[contains(@href,'tag=')]")
    return [" ".join(link.text_content().split()) for link in links]


async def test_tags_are_folders_with_counts_next_to_the_list(house: House, browser: Browser) -> None:
    put(house, 1, tags=("label:news/sweden", "topic:ai"))
    put(house, 2, tags=("label:news", f"label:{HOSTILE}"))
    put(house, 3, tags=("label:tides", "template:x"))
    await browser.get("/sources")
    assert folders(browser) == [f"{HOSTILE} 1", "news 2", "sweden 1", "tides 1", "topic 1", "ai 1"]
    await browser.get("/sources?tag=news/*")
    assert len(rows(browser)) == 2
    assert browser.page.xpath("//header//a[@aria-current='true']/bdi/text()") == ["news"]
    await browser.get("/sources?tag=topic:*")
    assert len(rows(browser)) == 1


async def test_a_tag_is_renamed_in_sources_and_alerts_with_those_below_it(house: House, browser: Browser) -> None:
    first = put(house, 1, tags=("label:news/sweden", "topic:ai"))
    second = put(house, 2, tags=("label:news", "label:press"))
    third = put(house, 3, tags=("label:newspapers",))
    alert, other = await alert_over(house, "label:news", "topic:ai"), await alert_over(house, "label:newspapers")
    defaults = house.storage.tag_defaults
    for tag, bar in (("label:news/sweden", 0.3), ("label:news", 0.4), ("label:newspapers", 0.5)):
        await defaults.edit(tag, lambda _, tag=tag, bar=bar: TagDefaults(tag, NOW, bar=bar))
    await browser.get("/sources/tags")
    await browser.post("/sources/tags", {"tag": "news", "name": "press"})
    assert "“news” is “press” now, in 2 sources, 1 alert and 0 publications." in browser.text
    views = house.registry.views
    assert set(views[first].source.tags) == {"label:press/sweden", "topic:ai"}
    assert views[second].source.tags == ("label:press",) and views[third].source.tags == ("label:newspapers",)
    kept = await house.storage.alerts.get(alert.id)
    assert kept is not None and kept.tags == ("label:press", "topic:ai")
    assert await house.storage.alerts.get(other.id) == other
    assert [(one.tag, one.bar) for one in await defaults.all()] == [
        ("label:newspapers", 0.5),
        ("label:press", 0.4),
        ("label:press/sweden", 0.3),
    ]


async def test_an_invalid_name_is_refused_and_stays_in_its_field(house: House, browser: Browser) -> None:
    put(house, 1, tags=("label:news",))
    await browser.get("/sources/tags")
    await browser.post("/sources/tags", {"tag": "news", "name": "channel:x"})
    assert browser.answer.status_code == 422 and "the service's own" in browser.text
    assert browser.page.xpath("//input[@name='name']/@value") == ["channel:x"]
    await browser.post("/sources/tags", {"tag": "channel:x", "name": "news"})
    assert browser.answer.status_code == 422


async def test_a_failed_rename_is_reported_and_the_alert_keeps_both_names(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: EditSource) -> None:
        raise Conflict("It is busy.")

    put(house, 1, tags=("label:news",))
    alert = await alert_over(house, "label:news")
    await house.storage.tag_defaults.edit("label:news", lambda _: TagDefaults("label:news", NOW, bar=0.4))
    monkeypatch.setattr(house.registry, "_edit", refuse)
    await browser.post("/sources/tags", {"tag": "news", "name": "press"})
    assert "1 not: It is busy." in browser.text
    kept = await house.storage.alerts.get(alert.id)
    assert kept is not None and kept.tags == ("label:news", "label:press")
    kept_by = [one.tag for one in await house.storage.tag_defaults.all()]
    assert kept_by == ["label:news", "label:press"], "what could not be renamed needs them"


async def test_without_a_tag_the_page_says_how_to_give_one(browser: Browser) -> None:
    await browser.get("/sources/tags")
    assert "No source has a tag" in browser.text
