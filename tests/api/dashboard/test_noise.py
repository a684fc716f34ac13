"""An event's page: the actions on top."""

from __future__ import annotations

from actors.messages.sources import Teach
from actors.messages.views import SourceView
from storage.records.source import SourceRuntime
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.api.nouns.test_why import a_page_draft, commit, id_in
from tests.support.build import a_source, a_source_id


async def test_an_event_is_called_noise_or_becomes_an_alert_from_its_page(house: House, browser: Browser) -> None:
    (event,) = await commit(house, a_page_draft())
    house.registry.views[a_source_id()] = SourceView(a_source(type="html", noise=("k1",)), SourceRuntime())
    there = f"/events/{id_in(event)}"
    await browser.get(there)
    (alert,) = browser.page.xpath("//a[text()='Alert like this']/@href")
    assert alert.startswith(f"/alerts/new?source={a_source_id()}&q=")
    assert browser.form(f"/sources/{a_source_id()}/pause") is not None
    await browser.submit(f"{there}/noise")
    (taught,) = [message for message in house.registry.seen if isinstance(message, Teach)]
    assert taught.noise and "It costs 29" in taught.texts
    assert browser.path == there and "are noise from now on" in browser.text
