"""Devices in Settings: added from a browser's subscription, listed without secrets, removed."""

from __future__ import annotations

import hashlib
import re

import pytest
import trio

from api.dashboard.rendering import asset
from extras.webpush.devices import mark_of
from extras.webpush.key import push_key
from storage.errors import DiskFull
from tests.actors.test_delivering import asked
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.house import House
from tests.extras.webpush.coast import ENDPOINT, Coast
from tests.support.memory_network import Answer

SUBSCRIBED = "/settings/devices"


def marks(browser: Browser) -> list[str]:
    return [str(mark) for mark in browser.page.xpath("//*[@data-mark]/@data-mark")]


async def test_a_device_is_added_tested_listed_and_ended(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="", name="Fares of the ferry")
            browser = await signed_in(town.house)
            await browser.post("/settings/wishes", {"language": "sv"})
            await browser.get(f"/settings?alert={alert['id']}")
            form = browser.form(SUBSCRIBED)
            kept = await push_key(town.storage)
            assert kept is not None and form.get("data-device") == kept.public
            assert dict(form.form_values())["alert"] == alert["id"] and kept.public in browser.text
            given = {"url": ENDPOINT, "label": "Annas telefon", **town.device.options}
            await browser.submit(SUBSCRIBED, given)
            assert "Annas telefon aviseras från och med nu om det som ”Fares of the ferry” träffar." in browser.text
            assert (town.shown()["title"], town.shown()["lang"]) == ("En provavisering", "sv")
            assert marks(browser) == [hashlib.sha256(ENDPOINT.encode()).hexdigest()[:32]]
            for secret in ("s3cret", *town.device.options.values()):
                assert secret not in browser.answer.text
            await browser.get(f"/settings?alert={alert['id']}")
            await browser.submit(SUBSCRIBED, given | {"label": "Telefonen"})
            assert len(marks(browser)) == 1 and "Telefonen" in browser.text, "the same device, for the same alert"
            await browser.submit(f"{SUBSCRIBED}/end", {"url": ENDPOINT + "/another"})
            assert len(marks(browser)) == 1
            await browser.submit(f"{SUBSCRIBED}/end", {"url": ENDPOINT})
            assert "1 destination är borttagen" in browser.text and not marks(browser)
            assert list(await town.storage.alerts.destinations()) == []


async def test_a_test_that_fails_is_reported_and_the_device_stays(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="", name="Fares")
            browser = await signed_in(town.house)
            town.answers = [Answer(403, b"no such sender")]
            await browser.get(f"/settings?alert={alert['id']}")
            await browser.submit(SUBSCRIBED, {"url": ENDPOINT, "label": "Phone", **town.device.options})
            assert "The test notification failed: the push service does not accept our key" in browser.text
            (hook,) = await town.storage.alerts.destinations()
            assert browser.path == f"/destinations/{hook.id}" and hook.enabled


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": ""}, "This needs JavaScript"),
        ({"alert": ""}, "Choose the alert whose matches are shown"),
        ({"url": "https://10.0.0.7/x"}, "10.0.0.7 is not public"),
        ({"p256dh": "short"}, "The browser's registration is not usable"),
        ({"auth": "A" * 21}, "does not look like one"),
        ({"label": ""}, ""),
    ],
)
async def test_an_invalid_subscription_is_refused_with_the_page(
    autojump_clock: object, given: dict[str, str], says: str
) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="", name="Fares")
            browser = await signed_in(town.house)
            await browser.get(f"/settings?alert={alert['id']}")
            whole = {"url": ENDPOINT, "label": "Phone", **town.device.options}
            await browser.submit(SUBSCRIBED, whole | given)
            made = await town.storage.alerts.destinations()
            assert (browser.answer.status_code, len(made)) == ((422, 0) if says else (200, 1)), browser.text
            assert says in browser.text and town.device.options["auth"] not in browser.answer.text


async def test_without_an_alert_the_way_to_one_is_shown(browser: Browser) -> None:
    await browser.get("/settings")
    assert "There is no alert yet whose matches could be shown." in browser.text
    assert not [form for form in browser.page.forms if form.get("action") == SUBSCRIBED]


async def test_without_javascript_the_button_explains_its_requirements(house: House, browser: Browser) -> None:
    async with await house.client() as client:
        alert = await asked(client, "/v1/alerts", filter_query="", name="Fares")
    await browser.get("/settings")
    form = browser.form(SUBSCRIBED)
    assert form.xpath(".//button")[0].get("disabled") is not None
    assert form.xpath(".//p[@role='status']")[0].text == "This needs JavaScript."
    await browser.get(f"/destinations/new?kind=webpush&alert={alert['id']}")
    (link,) = browser.page.xpath("//a[text()='Notify this device']/@href")
    assert link == f"/settings?alert={alert['id']}#devices"


async def test_a_full_disk_costs_the_other_settings_nothing(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(storage: object) -> None:
        raise DiskFull("the disk is full")

    monkeypatch.setattr("extras.webpush.kind.push_key", full)
    await browser.get("/settings")
    assert browser.answer.status_code == 200 and "can't store a key for it now" in browser.text


def test_the_script_makes_the_mark_as_the_service_does() -> None:
    script = asset("dashboard.js").body.decode()
    (size,) = re.findall(r"hash\.slice\(0, (\d+)\)", script)
    assert len(mark_of(ENDPOINT)) == 2 * int(size)
