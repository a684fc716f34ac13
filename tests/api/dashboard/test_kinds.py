"""The form for each kind of destination: its fields, its stored values, and the secrets that it never shows again."""

from __future__ import annotations

from msgspec.structs import replace

from tests.api.dashboard.browser import Browser
from tests.api.dashboard.notifying.test_destinations import wrong_at
from tests.api.dashboard.rows import ALERT, HOOK, a_hook
from tests.api.house import House

NEW = f"/destinations/new?alert={ALERT}"


async def added(browser: Browser, **fields: str) -> str:
    """Add a destination by the form and return its page's path."""
    await browser.get(f"{NEW}&kind={fields['kind']}")
    await browser.submit("/destinations/new", fields)
    return browser.path


async def test_kinds_are_grouped_by_recipient(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(NEW)
    links = {link.text: link.get("href") for link in browser.page.xpath("//nav[@class='kinds']//a")}
    assert {"Webhook", "Slack", "Telegram", "ntfy", "PagerDuty"} <= links.keys()
    assert links["Slack"] == f"/destinations/new?kind=slack&alert={ALERT}"


async def test_a_phone_service_works_with_the_fields_of_its_form(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(f"{NEW}&kind=ntfy")
    assert "subscribe to a topic" in browser.text and not browser.page.xpath("//*[@id='f-format']")
    (address,) = browser.page.xpath("//input[@name='url']")
    assert address.get("value") == "https://ntfy.sh"
    folded = {name for name in browser.page.xpath("//details[summary='Advanced']//@name") if "quiet" not in name}
    assert {"url", "options.priority", "label"} <= folded and "options.topic" not in folded
    (token,) = browser.page.xpath("//input[@name='options.token']")
    assert token.get("type") == "password"
    await browser.submit("/destinations/new", {"url": "https://other.test", "options.topic": ""})
    assert "Topic is needed" in wrong_at(browser, "options.topic")
    assert "subscribe to a topic" in browser.text
    more = {"options.topic": "prices", "options.token": "k3y0fNtfy", "options.priority": "4"}
    there = await added(browser, kind="ntfy", url="https://other.test", **more)
    (made,) = [one for one in await house.storage.alerts.destinations() if one.id != HOOK]
    assert there == f"/destinations/{made.id}" and "Send a test to see it arrive" in browser.text
    assert browser.page.xpath("//a[text()='Subscribe in the ntfy app']/@href") == ["ntfy://other.test/prices"]
    assert (made.kind, dict(made.options)) == ("ntfy", {"topic": "prices", "priority": "4"})
    assert made.values["token"] == "k3y0fNtfy" and made.secrets == ()
    assert "k3y0f" not in browser.answer.text and "Signing secret" not in browser.text
    await browser.get(f"{there}/edit")
    assert "k3y0f" not in browser.answer.text and "Leave this empty to keep it" in browser.text


async def test_a_sealed_value_stays_changes_and_goes(house: House, browser: Browser) -> None:
    await a_hook(house)
    options = {"options.topic": "prices", "options.token": "k3y0fNtfy"}
    there = await added(browser, kind="ntfy", url="https://other.test", **options)
    id = there.rpartition("/")[2]

    async def edited(**fields: str) -> dict[str, str]:
        await browser.get(f"{there}/edit")
        await browser.submit(f"{there}/edit", fields)
        found = await house.storage.alerts.destination(id)
        assert found is not None
        return found.values

    assert await edited(**{"options.topic": "fares", "options.priority": ""}) == {
        "topic": "fares",
        "token": "k3y0fNtfy",
    }
    assert (await edited(**{"options.token": "n3w"}))["token"] == "n3w"
    assert await edited(taken="token", **{"options.priority": ""}) == {"topic": "fares"}


async def test_a_secret_address_is_shown_only_by_its_host(house: House, browser: Browser) -> None:
    await a_hook(house)
    there = await added(browser, kind="slack", url="https://other.test/services/k3y0fSlack")
    assert "https://other.test/…" in browser.text and "k3y0f" not in browser.answer.text
    for page in (there, f"{there}/edit", "/destinations", f"/alerts/{ALERT}", "/system"):
        await browser.get(page)
        assert "k3y0f" not in browser.answer.text, page
    made = await house.storage.alerts.destination(there.rpartition("/")[2])
    assert made is not None and made.address == "https://other.test/services/k3y0fSlack"
    assert "k3y0f" not in repr(made) and "k3y0f" not in repr(house.logs)
    await added(browser, kind="slack", url="nonsense k3y0fSlack")
    assert "k3y0f" not in browser.answer.text


async def test_a_destination_without_its_values_names_the_missing_ones(house: House, browser: Browser) -> None:
    await a_hook(house)
    there = await added(browser, kind="slack", url="https://other.test/services/k3y0fSlack")
    id = there.rpartition("/")[2]
    lost = {"private": {}, "enabled": False, "was_enabled": True}
    await house.storage.alerts.edit_destination(id, lambda it: replace(it, **lost))
    await browser.get(there)
    assert "Incoming webhook address of the channel" in browser.text and "Give it again" in browser.text
    await browser.get(f"{there}/edit")
    await browser.submit(f"{there}/edit", {"url": "https://other.test/services/again"})
    found = await house.storage.alerts.destination(id)
    assert found is not None and found.was_enabled is None and found.address.endswith("/again")


async def test_a_destination_of_a_removed_kind_is_still_shown_and_edited(house: House, browser: Browser) -> None:
    await a_hook(house, kind="tide-table")
    await browser.get(f"/destinations/{HOOK}")
    assert "There is no kind tide-table" in browser.text
    await browser.get(f"/destinations/{HOOK}/edit")
    assert browser.answer.status_code == 200


async def test_an_alert_for_a_person_leads_to_the_kinds(house: House, browser: Browser) -> None:
    await browser.get("/alerts/new")
    await browser.submit("/alerts/new", {"name": "Fares", "deliver": "person"})
    (alert,) = await house.storage.alerts.all()
    assert browser.path == f"/destinations/new?alert={alert.id}"
    assert "Choose who to notify" in browser.text and "Telegram" in browser.text


async def test_a_message_is_shown_before_it_is_saved_and_while_it_is_written(house: House, browser: Browser) -> None:
    await a_hook(house)
    await house.publish("price of ferries")
    await browser.get(f"{NEW}&kind=slack")
    assert "Message" in browser.text
    typed = {"options.message": "*Look:* {{ title }}"}
    await browser.submit("/destinations/new", typed, to="/destinations/preview")
    assert "*Look:* price of ferries" in browser.text
    assert browser.page.xpath("//textarea[@name='options.message']")[0].text.strip() == typed["options.message"]
    fields = {"kind": "slack", "options.message": "*{{ title }}* {{ oops }}"}
    await browser.submit("/destinations/new", fields | {"url": "https://other.test/services/k3y0f"})
    assert "There is no value named oops" in wrong_at(browser, "options.message")
    there = await added(
        browser, kind="slack", url="https://other.test/services/k3y0f", **{"options.message": "*Now:* {{ title }}"}
    )
    await browser.get(f"{there}/edit")
    await browser.submit(f"{there}/edit", to=f"/destinations/{there.rpartition('/')[2]}/preview")
    assert "*Now:* price of ferries" in browser.text
    await browser.submit(f"{there}/edit", {"options.message": ""})
    found = await house.storage.alerts.destination(there.rpartition("/")[2])
    assert found is not None and "message" not in found.options


async def test_a_webhooks_form_has_no_message(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(f"{NEW}&kind=webhook")
    assert not browser.page.xpath("//textarea[@name='options.message']") and "Message" not in browser.text
