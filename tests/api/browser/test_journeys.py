"""Whole user journeys, with and without JavaScript."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext

import pytest

from tests.api.browser import axe
from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Entry, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.api.browser.world import TICKETS
from tests.support.waiting import wait_until

OPML = '<opml version="2.0"><body><outline text="Sea">{}<outline text="No" xmlUrl="ftp://no.example/"/></outline></body></opml>'


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without"])
def script(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def tab(new_tab: NewTab, script: bool) -> Tab:
    return new_tab(java_script_enabled=script)


def test_a_page_is_added_tried_out_edited_checked_paused_and_deleted(tab: Tab, origin: Origin, script: bool) -> None:
    page = origin.page(f"/ferry/{script}", "The Sandwick ferry", TICKETS)
    tab.open("/sources/add").fill(urls=f"{page}?1\n{page}?2\nmailto:nobody").press("Preview").sees("2 would be added")
    assert "1 refused" in tab.text
    tab.open("/sources/add").fill(urls=page).press("Preview").sees("4 blocks of text")
    tab.unfold("Options").fill(selector="main p:nth-child(2)").press("Try these selectors")
    tab.sees("The selector keeps 1 element.")
    tab.fill(selector="", title="Ferry tickets").press("Start").sees("Ferry tickets")
    source = tab.path

    origin.page(f"/ferry/{script}", "The Sandwick ferry", [one.replace("18.00", "21.70") for one in TICKETS])
    wait_until(lambda: tab.open(source).press("Check now").page.get_by_text("there is a change").count())
    assert re.search(r"− removed: Single, adult: 18.00.*\+ added: Single, adult: 21.70", tab.text)
    tab.unfold("Why was this not reported?").fill(text="Bicycles").press("Find out").sees("reported on")

    tab.follow("Edit").fill(ignore="main p:nth-child(2)", tags="prices").press("Try these selectors")
    tab.sees("takes out 1.")
    tab.fill(title="Ferry, without the prices").press("Save").sees("Ferry, without the prices")
    assert "main p:nth-child(2)" in tab.unfold("How it is watched").text and "prices" in tab.text
    tab.press("Pause").sees("Paused. It is not checked")
    tab.press("Resume").sees("Resumed.")

    tab.open("/sources?q=without+the+prices&kind=html")
    assert tab.page.locator("tbody tr").count() == 1
    tab.follow("Ferry, without the prices").unfold("Delete this source")
    tab.fill(confirm="yes").press("Delete this source").sees("To confirm, type: delete")
    if script:
        assert tab.page.locator("#faults").is_visible()
    if not tab.page.locator("main [name=confirm]").is_visible():
        tab.unfold("Delete this source")
    tab.fill(confirm="delete").press("Delete this source").sees("Deleted: Ferry, without the prices")


def test_a_link_becomes_a_watching_alert_on_one_form(tab: Tab, service: Service, origin: Origin, script: bool) -> None:
    """Paste a link anywhere, see its price, say when and where: four actions, and errors stay on the form."""
    place = f"/kettle/{script}"
    page = origin.page(place, "Copper kettle", ["It whistles a low note.", "Price: £349.00"])
    hook = f"/told/{script}"
    origin.says[hook] = Answer("thank you")
    tab.open("/system").fill(urls=page).press("Watch").sees("£349")
    assert tab.page.locator("[name=when]").input_value() == "below"
    assert tab.page.locator("[name=than]").input_value() == "349.00"
    tab.fill(than="cheap").page.locator("[name=deliver]").select_option("url")
    tab.press("Start").sees("Enter an amount, such as 300.")
    if script:
        assert axe.check(tab) == []
    tab.sees("£349")
    tab.fill(than="300", url=origin.url + hook).press("Start").sees("Its matches go to")
    source = tab.path.partition("#")[0]
    assert source.startswith("/sources/")
    (alert,) = [one for one in service.ask("GET", "/v1/alerts") if source.rpartition("/")[2] in one["source_ids"]]
    assert alert["filter_query"] == "price<300"
    origin.page(place, "Copper kettle", ["It whistles a low note.", "Price: £289.00"])
    service.look(source.rpartition("/")[2])
    wait_until(lambda: any(path == hook for path, _ in origin.taken))
    tab.open(source).sees("£349")


def test_a_list_of_feeds_is_imported(tab: Tab, origin: Origin, script: bool) -> None:
    feeds = [origin.feed(f"/list/{script}/{n}", f"Notes {n}", [Entry("A note")]) for n in range(3)]
    lines = "".join(f'<outline type="rss" text="Notes {n}" xmlUrl="{url}"/>' for n, url in enumerate(feeds))
    tab.open("/sources/import").unfold("Or paste its content").fill(text=OPML.format(lines)).press("Preview").sees(
        "3 would be added"
    )
    assert "1 refused" in tab.text
    tab.press("Add 3")
    wait_until(lambda: "3 of 3 done" in tab.open("/sources/import").text)
    tab.open(f"/sources?q=list/{script}&tag=Sea")
    assert tab.page.locator("tbody tr").count() == 3
    for box in tab.page.locator("tbody input").all():
        box.check()
    tab.press("Delete…").sees("Delete 3 sources")
    tab.fill(confirm="delete 3").page.locator("button.danger").click()
    tab.sees("3 sources")


def test_an_alert_reaches_a_receiver(tab: Tab, service: Service, origin: Origin, script: bool) -> None:
    feed, hook = f"/alerts/{script}", f"/hook/{script}"
    entries = [Entry("Price of a day ticket falls"), Entry("A quiet day on the beach")]
    source = service.add(origin.feed(feed, "Tickets", entries), backfill=2)
    origin.says[hook] = Answer("we are closed", 503)
    tab.open("/alerts/new").page.locator("[name=when]").select_option("query")
    tab.fill(filter_query="price OR (").press("Try it on the last week").sees("at the marked place")
    tab.unfold("More options").page.locator(f"input[name=private_source_ids][value='{source['id']}']").check()
    tab.fill(filter_query=f"price OR tariff{script}", name=f"Prices {script}")
    if script:
        tab.sees("events would have matched")  # live, while typing
    tab.press("Try it on the last week").sees("events would have matched")
    assert tab.page.locator("mark", has_text="Price").count()
    tab.page.locator("[name=deliver]").select_option("url")
    tab.fill(url="http://10.1.2.3/hook").press("Make the alert").sees("Its address")
    assert tab.page.locator("#e-url").is_visible()
    with tab.page.expect_response("**/alerts/try") if script else nullcontext():
        tab.fill(url=origin.url + hook)  # the new results move the button during the click
    tab.press("Make the alert").sees("It is shown only once.")
    secret = tab.page.locator(".secret pre").inner_text()
    assert secret.startswith("whsec_")
    assert secret not in tab.open(tab.path).text

    tab.page.locator("#destinations ~ * tbody th a").first.click()
    tab.press("Send a test").sees("The test failed: HTTP 503")
    here = tab.path
    origin.feed(feed, "Tickets", [*entries, Entry(f"New tariff{script} announced")])
    service.look(source["id"])
    wait_until(lambda: "HTTP 503" in tab.open(f"{here}/deliveries").text)
    assert "failed, will retry" in tab.text and "1 cause of failures" in tab.text
    tab.page.locator("tbody td a").first.click()
    tab.sees("Next attempts")
    assert "we are closed" in tab.text

    origin.says[hook] = Answer("thank you")
    tab.open(here).press("Make a new secret").sees("It is shown only once.")
    assert tab.page.locator(".secret pre").inner_text() != secret
    before = len(origin.taken)
    tab.open(f"{here}/deliveries").fill(since="2020-01-01T00:00").press("Deliver again").sees("again, with")
    wait_until(lambda: len(origin.taken) > before)
    told = [json.loads(body) for path, body in origin.taken[before:] if path == hook]
    assert any("rice" in one["title"] or "tariff" in one["title"] for one in told)
    wait_until(lambda: "delivered" in tab.open(f"{here}/deliveries?result=sent").text)

    tab.open("/alerts").follow(f"Prices {script}").press("Pause").sees("Paused. Earlier matches")
    tab.unfold("Delete this alert").fill(confirm="delete").press("Delete this alert").sees("Alerts")


def test_a_bin_takes_a_delivery_of_an_alert(tab: Tab, service: Service, script: bool) -> None:
    service.ask("POST", "/v1/alerts", {"name": f"All {script}", "filter_query": ""})
    tab.open("/webhook-bins").page.locator("main button", has_text=re.compile("(Make a|New) test inbox")).first.click()
    address = tab.sees("/bins/").inner_text()
    service.api.post(address, content=b'{"hello": "beach"}', headers={"Content-Type": "application/json"})
    tab.open(tab.path).page.locator("select[name=alert]").select_option(label=f"All {script}")
    tab.press("Deliver to this inbox")
    tab.press("Send a sample")
    wait_until(lambda: tab.open(tab.path).page.locator("tbody tr").count() == 2)
    assert tab.page.locator("tbody tr").first.get_by_text("verified").count() == 2
    tab.page.locator("tbody th a").last.click()
    assert '"hello": "beach"' in tab.sees("hello").inner_text()
    tab.unfold("Send it again, from a shell").sees("curl")
    tab.follow("Inbox").unfold("Delete this inbox").fill(confirm="delete")
    tab.press("Delete this inbox").sees("Test inboxes")


def test_a_template_shows_why_sources_did_not_attach(tab: Tab, script: bool) -> None:
    tab.open("/templates").page.locator("main h2 a", has_text="ompetitor").click()
    tab.page.locator("main textarea").first.fill("rival.invalid")
    tab.press("Preview").sees("4 new sources")
    tab.page.locator("main button", has_text="Attach").click()
    tab.sees("rival.invalid")
    assert tab.page.get_by_text("failed").count() >= 4


def test_a_key_works_until_it_is_deleted(tab: Tab, service: Service, script: bool) -> None:
    tab.open("/keys/new").fill(name="x", rate="much").press("Make the key").sees("Please check these fields:")
    tab.fill(name=f"Newsroom {script}", rate="600")
    tab.page.locator("input[value='stream:read']").check()
    tab.press("Make the key").sees("It is shown only once.")
    plaintext = tab.page.locator(".secret pre").inner_text()
    ours = {"Authorization": f"Bearer {plaintext}"}
    assert service.api.get("/v1/events", headers=ours).status_code == 200
    assert service.api.get("/v1/sources", headers=ours).status_code == 403
    assert plaintext not in tab.open("/keys").text
    tab.follow(f"Newsroom {script}").unfold("Delete this key").fill(confirm=f"Newsroom {script}")
    tab.press("Delete this key").sees("API keys")
    assert service.api.get("/v1/events", headers=ours).status_code == 401


def test_the_system_names_its_parts_and_settings(tab: Tab) -> None:
    tab.open("/system").sees("Load")
    assert all(words in tab.text for words in ("Ready", "Load", "Sources overdue", "Storage"))
    assert tab.page.locator("main details[open]").count() == 0
    tab.unfold("parts").fill(filter="matcher").press("Filter")
    rows = tab.page.locator("details:has(#parts) tbody tr")
    assert 1 <= rows.count() < 5 and "matcher" in rows.first.inner_text()
    tab.unfold("settings")
    assert "SANDERLING_ALLOW_NETWORKS" in tab.text or "allow_networks" in tab.text


def test_the_first_message_in_a_chat_takes_an_address_and_one_press(
    tab: Tab, service: Service, origin: Origin, script: bool
) -> None:
    chat, name = f"/services/T0/B0/{script}", f"Told {script}"
    origin.says[chat] = Answer("ok")
    service.ask("POST", "/v1/alerts", {"name": name, "filter_query": ""})
    tab.open("/destinations/new").follow("Slack").sees("Copy the webhook URL that it shows.")
    tab.page.locator("main select[name=alert]").select_option(label=name)
    tab.fill(url="cannot be reached").press("Add it").sees("Incoming webhook address of the channel")
    assert "cannot be reached" not in tab.text
    tab.fill(url=origin.url + chat).press("Add it").sees("Send a test")
    assert origin.url + chat not in tab.text
    tab.press("Send a test").sees("The test arrived")
    (body,) = [json.loads(body) for path, body in origin.taken if path == chat]
    assert body["blocks"][0]["text"]["text"] == "Test delivery"


def test_a_page_is_shared_until_a_day(tab: Tab, service: Service, origin: Origin, script: bool) -> None:
    """Publish, copy the address, read it as a stranger, and end it."""
    tab.open("/publications/new").fill(title=f"Ferry {script}", ends_on="2099-12-31").press("Publish").sees("Share")
    assert "without signing in" in tab.text and "Shared until 2099-12-31." in tab.text
    field = tab.page.get_by_label("address of the page", exact=True)
    assert field.get_attribute("readonly") is not None
    shared, made = field.input_value().removeprefix(tab.url), tab.path
    if script:
        assert axe.check(tab) == []
        tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.page.get_by_role("button", name="Copy the address of the page").click()
        tab.sees("Copied")
    assert service.api.get(shared).status_code == 200
    tab.open(made).follow("Edit").fill(ends_on="2020-01-31").press("Save").sees("It ended")
    answer = service.api.get(shared)
    assert answer.status_code == 410 and "No longer published" in answer.text


def test_entries_are_read_in_two_panes_and_on_a_phone_in_one(
    new_tab: NewTab, service: Service, origin: Origin, script: bool
) -> None:
    """Open entries, keep one unread, mark the rest: by keys with a script, by links and buttons without."""
    tag = f"reader-{script}".lower()
    entries = [Entry(f"Tide {at}", f"High water at {at} o'clock.", f"{origin.url}/tides/{at}") for at in (1, 2, 3)]
    service.add(origin.feed(f"/log/{script}", "Harbour log", entries), tags=[tag], backfill=3)
    tab = new_tab(java_script_enabled=script)
    wait_until(lambda: tab.open(f"/stream/read?tag={tag}").page.locator("#entries li.unread").count() == 3)
    if script:
        tab.page.keyboard.press("j")
        tab.page.locator("#entry h2", has_text=re.compile(r"Tide")).wait_for()
        tab.page.keyboard.press("j")
        tab.page.locator("#entries li.unread").nth(1).wait_for(state="detached")
        tab.page.keyboard.press("m")
        tab.page.locator("#entries li.unread").nth(1).wait_for()
        tab.page.keyboard.press("j")
        with tab.page.expect_popup() as opened:
            tab.page.keyboard.press("o")
        assert opened.value.url.startswith(f"{origin.url}/tides/")
        opened.value.close()
        assert axe.check(tab) == []
    else:
        tab.page.locator("#entries a").first.click()
        tab.sees("o'clock")
        assert tab.page.locator("#entries").is_visible() and tab.page.locator("#entries li.unread").count() == 2
    tab.open(f"/stream/read?tag={tag}").press(re.compile(r"Mark \d as read")).sees("Tide 1")
    assert tab.page.locator("#entries li.unread").count() == 0

    phone = new_tab(java_script_enabled=script, viewport={"width": 390, "height": 800})
    phone.open(f"/stream/read?tag={tag}")
    assert phone.page.locator("#entries li.unread").count() == 0, "another device shows what was read here"
    phone.page.locator("#entries a").first.click()
    phone.sees("o'clock")
    assert not phone.page.locator("#entries").is_visible()
    if script:
        assert phone.run("document.documentElement.scrollWidth") <= 390
    phone.follow("All entries").sees("Tide 1")


def test_an_alert_is_tried_without_a_receiver(tab: Tab, script: bool) -> None:
    """One press makes a bin and shows its request; the form keeps its input."""
    tab.open("/alerts/new").unfold("More options").fill(name=f"Kettle {script}").press("Try it without a receiver")
    tab.sees("This is what a receiver gets:")
    assert "webhook-signature" in tab.page.locator("#sent pre").inner_text()
    assert tab.page.locator("main [name=name]").first.input_value() == f"Kettle {script}"
    if script:
        tab.run("document.querySelector('.tried').setAttribute('aria-busy', 'true')")  # legible while it reloads, too
        assert tab.path == "/alerts/new" and axe.check(tab) == []
    tab.follow("Open the inbox").sees("Its requests")
