"""Named filters of lists, stored in the service."""

from __future__ import annotations

import pytest

from api.dashboard import lists
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.sources.test_listing import put, rows
from tests.api.house import House

HOSTILE = '"><b>x'


def shown(browser: Browser) -> list[str]:
    return [str(one) for one in browser.page.xpath("//header//nav[@aria-label='Saved views']//a/bdi/text()")]


async def test_a_view_of_sources_is_saved_and_found_from_another_browser(house: House, browser: Browser) -> None:
    put(house, 1, tags=("label:prices",))
    put(house, 2)
    await browser.get("/sources?tag=prices&sort=name&cursor=")
    await browser.submit("/views", {"name": HOSTILE})
    assert f"Saved as “{HOSTILE}”." in browser.text and browser.path == "/sources?tag=prices&sort=name"
    other = await signed_in(house)
    await other.get("/sources")
    assert shown(other) == [HOSTILE] and len(rows(other)) == 2
    await other.get(str(other.page.xpath("//header//nav[@aria-label='Saved views']//a/@href")[0]))
    assert len(rows(other)) == 1 and other.page.xpath("//header//a[@aria-current='true']/bdi/text()")
    await other.client.aclose()


async def test_a_view_is_deleted_from_its_list_and_one_of_its_name_gets_the_new_filters(
    house: House, browser: Browser
) -> None:
    put(house, 1, tags=("label:a", "label:b"))
    for tag in ("a", "b"):
        await browser.get(f"/sources?tag={tag}")
        await browser.submit("/views", {"name": "mine"})
    (view,) = await house.storage.saved_views.all()
    assert view.query == "tag=b"
    await browser.submit(f"/views/{view.id}/delete")
    assert "The view “mine” is deleted." in browser.text and shown(browser) == []
    await browser.post(f"/views/{view.id}/delete")
    assert browser.answer.status_code == 404


async def test_the_stream_has_views_of_its_own(house: House, browser: Browser) -> None:
    await browser.get("/stream?keyword=price&source_type=html&after=")
    await browser.submit("/views", {"name": "Prices of pages"})
    assert browser.path == "/stream?keyword=price&source_type=html" and shown(browser) == ["Prices of pages"]
    put(house)
    await browser.get("/sources")
    assert shown(browser) == []


async def test_an_invalid_filter_is_not_saved_and_views_are_bounded(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.get("/stream")
    form = {"place": "stream", "name": "x", "query": "cursor=1&next=//evil.test/"}
    await browser.post("/views", form)
    assert "choose filters first" in browser.text
    await browser.post("/views", {**form, "place": "keys"})
    assert browser.path == "/sources" and "There are no views of this list" in browser.text
    assert not await house.storage.saved_views.all()
    await browser.get("/stream")
    await browser.post("/views", {**form, "query": "tag=a", "name": " "})
    assert "type a name" in browser.text
    monkeypatch.setattr(lists, "MOST_VIEWS", 1)
    for name in ("one", "two"):
        await browser.post("/views", {"place": "stream", "name": name, "query": "tag=a"})
    assert "there are 1 views" in browser.text
    assert [view.name for view in await house.storage.saved_views.all()] == ["one"]
