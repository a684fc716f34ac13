"""Undo of a pause and of a deletion, for one source and for many."""

from __future__ import annotations

from msgspec.structs import replace

from api.dashboard.screen import MOST_UNDOS, UNDO_MILLIS, Undo, Undos
from storage.records.identity import Millis
from storage.records.source import RESTS
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.support.build import NOW, a_source, a_source_id, a_state


async def test_a_paused_source_is_resumed_at_a_press(house: House, browser: Browser) -> None:
    id = put(house)
    await browser.get(f"/sources/{id}")
    await browser.submit(f"/sources/{id}/pause")
    assert "Paused." in browser.text and not house.registry.views[id].source.enabled
    await browser.submit("/sources/undo")
    assert "1 source resumed." in browser.text and browser.path == f"/sources/{id}"
    assert house.registry.views[id].source.enabled


async def test_a_deleted_source_comes_back_at_a_press(house: House, browser: Browser) -> None:
    id = put(house, tags=("label:sea",))
    await browser.get(f"/sources/{id}")
    await browser.submit(f"/sources/{id}/delete", {"confirm": "delete"})
    assert "You can restore it for 10 minutes" in browser.text and id not in house.registry.views
    await browser.submit("/sources/undo")
    assert "1 source back." in browser.text and house.registry.views[id].source.tags == ("label:sea",)


async def test_undo_reverts_only_the_sources_that_were_changed(house: House, browser: Browser) -> None:
    ids = [put(house, 1), put(house, 2, enabled=False), put(house, 3)]
    await browser.get("/sources?q=site")
    await browser.submit("/sources/many", {"source": ids, "act": "pause"})
    await browser.submit("/sources/undo")
    assert "2 sources resumed." in browser.text and browser.path == "/sources?q=site"
    assert [house.registry.views[id].source.enabled for id in ids] == [True, False, True]
    await browser.submit("/sources/many", {"act": "delete", "every": "1"})
    await browser.submit("/sources/many/delete", {"confirm": "delete 3"})
    assert not house.registry.views
    await browser.submit("/sources/undo")
    assert "3 sources back." in browser.text and set(house.registry.views) == set(ids)


async def test_a_button_works_once_for_a_while_and_in_its_own_browser(house: House, browser: Browser) -> None:
    id = put(house)
    await browser.get(f"/sources/{id}")
    await browser.submit(f"/sources/{id}/pause")
    key = browser.form("/sources/undo").fields["key"]
    other = await signed_in(house)
    await other.post("/sources/undo", {"key": key})
    assert "can no longer be undone" in other.text and other.path == "/sources/deleted"
    await other.client.aclose()
    await browser.post("/sources/undo", {"key": key, "back": "//evil.test/"})
    assert "1 source resumed." in browser.text and browser.path == "/"
    await browser.get("/sources/deleted")
    await browser.post("/sources/undo", {"key": "1" * 50})
    assert browser.answer.status_code == 422
    await browser.post("/sources/undo", {"key": key})
    assert "can no longer be undone" in browser.text


async def test_the_deleted_ones_are_listed_and_had_back_also_after_a_restart(house: House, browser: Browser) -> None:
    storage = house.storage
    for number, at in ((1, NOW), (2, NOW - RESTS)):
        source = a_source(number, title=f"Tides {number} <b>")
        await storage.sources.add(source, a_state(source.id), storage.lease)
        await storage.sources.update(replace(source, deleted_at=Millis(at)), storage.lease, before=None)
    first = put(house, 1)
    house.registry.deleted[first] = house.registry.views.pop(first)
    await browser.get("/sources/deleted")
    assert "Tides 1 <b>" in browser.text and "Tides 2" not in browser.text, "one has rested"
    await browser.submit("/sources/deleted/restore", {"source": [first, a_source_id(9)]})
    assert "1 source back. 1 not: There is no such deleted source." in browser.text
    assert first in house.registry.views
    await browser.submit("/sources/deleted/restore", {"source": []})
    assert "no source is ticked" in browser.text


def test_undo_is_bounded() -> None:
    undos, change = Undos(), Undo("resume", ("a",))
    first = undos.keep("me", change, NOW)
    keys = [undos.keep("me", change, NOW) for _ in range(MOST_UNDOS)]
    assert undos.take("me", first, NOW) is None and undos.take("me", keys[0], NOW) == change
    assert undos.take("me", keys[1], NOW + UNDO_MILLIS) is None
