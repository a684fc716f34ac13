"""The first steps over a fake registry: the effect of each button, and its error message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
import trio

from actors.errors import TooSoon
from actors.messages.sources import ShowPractice
from actors.messages.views import SourceView
from actors.recorder.actor import build
from actors.signatures import Signer, jwks, new_signing_key
from extras.practice import operations as practice
from storage.append import events_of
from storage.records.access import SigningKey
from storage.records.alert import Alert
from storage.records.event import Change, Diff, Draft
from storage.records.identity import Seq, SourceId
from storage.records.source import Harvest, SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.house import BASE_URL, House, make_house, running
from tests.support.build import NOW, a_draft

KEY = new_signing_key(bytes(32), NOW)
PATH = "/first-steps"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def keys() -> list[SigningKey]:
    return [KEY]


@pytest.fixture
async def house(autojump_clock: object, keys: list[SigningKey]) -> AsyncIterator[House]:
    async def published() -> bytes:
        return jwks(keys)

    house = make_house()
    house.context = replace(house.context, jwks=published)
    async with running(house):
        yield house


def views(house: House) -> list[SourceView]:
    return [view for view in house.registry.views.values() if view.source.practice is not None]


def a_change(before: str = "18.00", after: str = "21.70") -> Draft:
    diff = Diff((), (), (Change(before, after),))
    return a_draft("Practice: the Sandwick ferry", source_type="html", practice=True, diff=diff)


async def tell(house: House, draft: Draft | None = None) -> None:
    """Commit an event of the first practice source, as the recorder would."""
    source = views(house)[0].source
    storage, state = house.storage, SourceState(source.id, SourceRuntime())

    def stamp(seq: Seq, id: str, of: SourceId, draft: Draft) -> bytes:
        return Signer(KEY).sign(build(id, of, draft, BASE_URL, NOW), NOW)

    if await storage.sources.get(source.id) is None:
        await storage.sources.add(source, state, storage.lease)
    harvest = Harvest(source.id, (draft or a_change(),), state)
    await storage.tail.publish(events_of(await storage.log.append([harvest], storage.lease, house.mint, stamp)))


async def changed(browser: Browser, draft: Draft | None = None, *, after: float = 0.5) -> None:
    """Press the button; the event arrives `after` seconds later."""

    async def look() -> None:
        await trio.sleep(after)
        await tell(browser.house, draft)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        await browser.submit(f"{PATH}/change", {"what": "page"})


async def test_before_anything_there_are_two_things_to_do(browser: Browser) -> None:
    await browser.get(PATH)
    assert "Paste any URL" in browser.text and "Change the page now" in browser.text
    assert "Take it with you" not in browser.text and "End the practice" not in browser.text
    assert browser.form("/sources/look").fields["urls"] == ""


async def test_first_steps_are_on_today_without_sources(browser: Browser, house: House) -> None:
    await browser.get("/")
    browser.form("/sources/look")
    browser.form(f"{PATH}/change")


async def test_a_press_shows_the_event_with_its_difference_its_signature_and_its_why(browser: Browser) -> None:
    await browser.get(PATH)
    await changed(browser)
    assert browser.path == PATH
    assert 'The fare "Single, adult" went from 18.00 to 21.70 euro.' in browser.text
    assert [browser.page.xpath(f"//{name}")[0].text_content().split() for name in ("del", "ins")] == [
        ["−", "removed:", "18.00"],
        ["+", "added:", "21.70"],
    ]
    assert "✓ verified signed with key" in browser.text
    assert "Why it was reported:" in browser.text
    assert "curl -N" in browser.text and "sanderling tail" in browser.text


async def test_a_forged_event_is_never_called_verified(browser: Browser, keys: list[SigningKey]) -> None:
    keys[:] = [new_signing_key(bytes([1]) * 32, NOW)]
    await browser.get(PATH)
    await changed(browser)
    assert "not verified" in browser.text and "✓ verified" not in browser.text


async def test_a_practice_event_that_does_not_come_is_reported_after_a_limited_wait(
    browser: Browser, autojump_clock: object
) -> None:
    await browser.get(PATH)
    began = trio.current_time()
    await browser.submit(f"{PATH}/change", {"what": "feed"})
    assert practice.TOLD_WITHIN <= trio.current_time() - began < 10
    assert "Its event has not arrived yet. Reload this page in a moment." in browser.text


async def test_a_second_press_changes_nothing_and_shows_the_first_result(
    browser: Browser, house: House, autojump_clock: object
) -> None:
    await browser.get(PATH)
    await changed(browser)
    house.registry._practise = refuse  # type: ignore[method-assign]
    began = trio.current_time()
    await changed(browser, a_draft("The first press's", source_type="feed", practice=True), after=1)
    assert "Nothing changed: it can be changed once in 3 s." in browser.text
    assert "The first press's" in browser.text and trio.current_time() - began < 2, "its event was waited for"
    (view,) = views(house)
    house.registry.views[view.source.id] = SourceView(view.source, SourceRuntime(last_look_at=view.source.updated_at))
    began = trio.current_time()
    await browser.submit(f"{PATH}/change", {"what": "page"})
    assert trio.current_time() - began < 0.1, "its event is there"


def refuse(what: object) -> Any:
    raise TooSoon("it can be changed once in 3 s", 3)


async def test_a_document_that_there_is_not_is_refused(browser: Browser) -> None:
    await browser.get(PATH)
    await browser.submit(f"{PATH}/change", {"what": "moon"})
    assert browser.answer.status_code == 422
    assert "Choose one from the list." in browser.text


async def test_a_key_is_made_for_the_command_and_shown_once(browser: Browser, house: House) -> None:
    await browser.get(PATH)
    await changed(browser)
    await browser.submit(f"{PATH}/key")
    (key,) = await house.storage.keys.all()
    assert key.scopes == ("stream:read",)
    command = browser.page.xpath("//section[contains(@class, 'secret')]//pre")[0].text_content()
    assert f"Bearer {key.prefix}" in command
    assert f"{BASE_URL}/v1/stream?source={views(house)[0].source.id}" in command
    await browser.get(PATH)
    assert key.prefix not in browser.text


async def test_a_bin_is_wired_and_the_delivery_waited_for(
    browser: Browser, house: House, autojump_clock: object
) -> None:
    await browser.get(PATH)
    await changed(browser)
    await put(house)
    began = trio.current_time()
    await browser.submit(f"{PATH}/wire")
    (bin,) = await house.storage.bins.all()
    (alert,) = await house.storage.alerts.all()
    (destination,) = await house.storage.alerts.destinations()
    assert browser.path == f"/webhook-bins/{bin.id}"
    assert "its delivery is on the way" in browser.text  # this house delivers nothing
    assert trio.current_time() - began < 10
    assert set(alert.source_ids) == {view.source.id for view in views(house)}
    assert destination.url.endswith(bin.token)
    await browser.get(PATH)
    assert browser.page.xpath(f"//a[@href='/webhook-bins/{bin.id}']")


async def test_a_bin_that_cannot_be_connected_names_the_fix_and_is_deleted(browser: Browser, house: House) -> None:
    """This happens when another window ends the practice: the page shows sources that storage no longer has."""
    await browser.get(PATH)
    await changed(browser)
    await browser.submit(f"{PATH}/wire")
    assert "The practice has ended: start it again, then attach a bin." in browser.text
    assert "Source ids" not in browser.text and browser.page.xpath("//form[@action='/first-steps/change']")
    assert await house.storage.bins.all() == [] and await house.storage.alerts.all() == []


async def test_one_press_ends_all_of_it_and_nothing_else(
    browser: Browser, house: House, autojump_clock: object
) -> None:
    await browser.get(PATH)
    await changed(browser)
    await put(house)
    await browser.submit(f"{PATH}/wire")
    own = Alert("019db0a4-7d20-7000-8000-0000000000b1", "Mine", "", "en", (), NOW, NOW)
    mixed = msgspec.structs.replace(
        own,
        id="019db0a4-7d20-7000-8000-0000000000b2",
        source_ids=(views(house)[0].source.id, "019db0a4-7d20-7000-8000-0000000000b3"),
    )
    for alert in (own, mixed):
        await house.storage.alerts.put(alert)
    await browser.get("/webhook-bins")
    await browser.submit("/webhook-bins")
    await browser.get(PATH)
    await browser.submit(f"{PATH}/end")
    assert "Practice ended" in browser.text
    assert views(house) == []
    assert [alert.id for alert in await house.storage.alerts.all()] == [own.id, mixed.id]
    assert len(await house.storage.bins.all()) == 1


async def put(house: House) -> None:
    """Store the feed's source too, as a real registry does: an alert can only name stored sources."""
    await house.registry.mailbox.ask(lambda reply: ShowPractice(reply, start=True))
    for view in views(house):
        if await house.storage.sources.get(view.source.id) is None:
            state = SourceState(view.source.id, SourceRuntime())
            await house.storage.sources.add(view.source, state, house.storage.lease)


async def test_x12_an_events_text_stays_text(browser: Browser) -> None:
    await browser.get(PATH)
    await changed(browser, a_change(HOSTILE, HOSTILE + "2"))
    assert not browser.page.xpath("//main//script | //main//img")
    assert HOSTILE in browser.page.text_content()
