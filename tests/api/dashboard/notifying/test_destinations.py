"""The destination screens: each state, and every button."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import trio

from actors.destination_kinds.bins import Bins
from actors.egress.url import parse_url
from actors.messages import views, workers
from actors.messages.workers import OutboxGrew
from api.dashboard.notifying.destinations import test_words as said_of
from storage.records.destination import Destination, QuietHours
from storage.records.identity import Millis, Seq
from storage.records.source import DESTINATIONS
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.rows import ALERT, HOOK, a_hook, an_attempt, attempts
from tests.api.house import House, ids, make_house, running
from tests.support.build import NOW

ONE = f"/destinations/{HOOK}"


def wrong_at(browser: Browser, field: str) -> str:
    """Return the error at a field."""
    (place,) = browser.page.xpath(f"//*[@id='f-{field}']")
    inside = place.xpath(".//small[@class='wrong']") or place.xpath("..//small[@class='wrong']")
    return " ".join(one.text_content() for one in inside)


async def test_without_alerts_the_way_begins_with_one(house: House, browser: Browser) -> None:
    await browser.get("/destinations")
    assert "Create an alert first" in browser.text and browser.page.xpath("//main//a[@href='/alerts/new']")
    await a_hook(house)
    await house.storage.alerts.delete_destination(HOOK)
    await browser.get("/destinations")
    assert browser.page.xpath("//main//a[@href='/destinations/new']")


async def test_the_list_shows_trouble_first_and_can_be_filtered(house: House, browser: Browser) -> None:
    await a_hook(house)
    second = HOOK.replace("d1", "d2")
    await a_hook(house, id=second, label="Broken one", state="failing", failing_since=NOW - 3_600_000)
    attempts(house, an_attempt(), an_attempt("e2", "retry"))
    await browser.get("/destinations")
    rows = [row.text_content().split("\n")[0] for row in browser.page.xpath("//tbody//th/a")]
    assert rows == ["Broken one", "hooks.test"]
    assert "last attempt failed" in browser.text and "50 %" in browser.text
    await browser.get("/destinations?state=failing&q=broken")
    assert "1 destination," in browser.text and "hooks.test/in" in browser.text
    await browser.get("/destinations?q=nothing+such")
    assert "None of them" in browser.text


async def test_the_table_filters_by_each_state_and_lists_failed_attempts_first(house: House, browser: Browser) -> None:
    well, failed, unused = (HOOK.replace("d1", end) for end in ("d1", "d2", "d3"))
    for id, label in ((well, "Well"), (failed, "Failed"), (unused, "Unused")):
        await a_hook(house, id=id, label=label)
    attempts(house, an_attempt(), hook=well)
    attempts(house, an_attempt(result="retry"), hook=failed)
    await browser.get("/destinations")
    assert [row.text_content() for row in browser.page.xpath("//tbody//th/a")] == ["Failed", "Well", "Unused"]
    offered = browser.page.xpath("//select[@name='state']/option/text()")
    assert offered == ["all", *(state.word for state in DESTINATIONS.values())]
    for state, label in (("last_failed", "Failed"), ("active", "Well"), ("unused", "Unused")):
        await browser.get(f"/destinations?state={state}")
        assert [row.text_content() for row in browser.page.xpath("//tbody//th/a")] == [label]
    await browser.get("/destinations?state=else")
    assert browser.answer.status_code == 400


async def test_one_is_added_to_an_alert_and_its_secret_is_shown_once(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(f"/destinations/new?alert={ALERT}")
    fields = {
        "url": "https://other.test/in",
        "delivery_mode": "daily",
        "format": "cloudevents",
        "digest_hour": "6",
        "digest_timezone": "Europe/Stockholm",
        "quiet": "yes",
        "quiet_from": "21:30",
        "quiet_days": ["mon", "tue"],
    }
    await browser.submit("/destinations/new", fields)
    made = next(each for each in await house.storage.alerts.destinations() if each.id != HOOK)
    assert (made.url, made.delivery_mode, made.digest_hour) == ("https://other.test/in", "daily", 6)
    assert made.format == "cloudevents"
    assert made.quiet_hours == QuietHours("21:30", "07:00", "UTC", ("mon", "tue"))
    assert browser.path == f"/destinations/{made.id}" and made.secrets[0].value in browser.text
    await browser.get(browser.path)
    assert made.secrets[0].value not in browser.text
    assert "21:30 to 07:00 (UTC), Mon, Tue" in browser.text and "daily at 06:00 (Europe/Stockholm)" in browser.text


@pytest.fixture
def sent() -> list[Destination]:
    """The destinations that were tested without being saved: the first test arrives."""
    return []


@pytest.fixture
async def house(autojump_clock: object, sent: list[Destination]) -> AsyncIterator[House]:
    house = make_house()

    async def answered(made: Destination) -> views.TestResult:
        sent.append(made)
        bins = Bins(house.context.world, house.storage, house.context.settings.public_url())
        if path := bins.path_in(parse_url(made.url, schemes=("http", "https"))):
            bin = await bins.find(path)
            assert bin is not None
            headers = (("webhook-id", "msg_1"), ("x-note", "<b>"))
            await bins.capture(bin, ("POST", path, ""), headers, b'{"title": "Sample"}', size=19, whole=True)
        return views.TestResult(*(("sent", 200) if len(sent) == 1 else ("terminal", 404)), 12, "", "hello")

    house.context = replace(house.context, test_without_actor=answered)
    async with running(house) as house:
        yield house


async def test_it_is_tested_before_it_is_added(house: House, browser: Browser, sent: list[Destination]) -> None:
    await a_hook(house)
    await browser.get(f"/destinations/new?alert={ALERT}&kind=webhook")
    for words in ("The test arrived: HTTP 200 after 12 ms. It said: “hello”", "The test failed: HTTP 404, 12 ms."):
        await browser.submit("/destinations/new", {"url": "https://other.test/in"}, to="/destinations/test")
        (said,) = browser.page.xpath("//*[@id='sent']")
        assert words in " ".join(said.text_content().split())
        assert browser.form("/destinations/new").fields["url"] == "https://other.test/in"
    assert [one.url for one in sent] == ["https://other.test/in"] * 2 and sent[0].secrets
    assert [one.id for one in await house.storage.alerts.destinations()] == [HOOK], "nothing is saved"
    await browser.submit("/destinations/new", {"url": "http://plain.test/"}, to="/destinations/test")
    assert browser.answer.status_code == 422
    assert "https" in browser.page.xpath("//*[@id='sent']")[0].text_content()
    assert len(sent) == 2


async def test_a_topic_that_nobody_can_guess_is_filled_in(house: House, browser: Browser) -> None:
    await a_hook(house)
    topics = set()
    for _ in range(2):
        await browser.get(f"/destinations/new?alert={ALERT}&kind=ntfy")
        topics.add(browser.form("/destinations/new").fields["options.topic"])
    assert len(topics) == 2 and all(re.fullmatch("prices-[0-9a-f]{12}", topic) for topic in topics)


def test_a_good_test_says_how_many_deliveries_it_retries() -> None:
    found = views.TestResult("sent", 200, 12, "")
    assert said_of(found) == "The test arrived: HTTP 200 after 12 ms."
    assert said_of(views.TestResult("sent", 200, 12, "", retried=2)).endswith("2 waiting deliveries are retried now.")


@pytest.mark.parametrize(
    ("page", "path", "fields"),
    [
        ("/destinations/new?kind=webhook", "/destinations/bin", {}),
        (f"/destinations/new?alert={ALERT}&kind=webhook", "/destinations/test", {"deliver": "bin"}),
        ("/alerts/new", "/alerts/bin", {"name": "Kettle"}),
    ],
)
async def test_without_a_receiver_the_captured_request_is_shown_on_the_form(
    house: House, browser: Browser, page: str, path: str, fields: dict[str, str]
) -> None:
    await a_hook(house)
    await browser.get(page)
    await browser.submit(page.partition("?")[0], fields, to=path)
    assert browser.answer.status_code == 200, browser.text
    (said,) = browser.page.xpath("//*[@id='sent']")
    (bin,) = await house.storage.bins.all()
    assert f"POST /bins/{bin.token}\nwebhook-id: msg_1\nx-note: <b>" in said.text_content()
    assert '"title": "Sample"' in said.text_content() and said.xpath(f".//a[@href='/webhook-bins/{bin.id}']")
    form = browser.form(page.partition("?")[0])
    assert all(form.fields[name] == text for name, text in fields.items()), "the typed fields stay"
    assert len(await house.storage.alerts.destinations()) == 1, "nothing is saved"


async def test_a_bin_can_be_made_for_it(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(f"/destinations/new?alert={ALERT}")
    await browser.submit("/destinations/new", {"deliver": "bin"})
    (bin,) = await house.storage.bins.all()
    made = next(each for each in await house.storage.alerts.destinations() if bin.token in each.url)
    assert made.label == "Test inbox" and "Test inbox" in browser.text


async def test_a_refusal_appears_next_to_its_field_and_keeps_the_input(house: House, browser: Browser) -> None:
    await a_hook(house)
    house.resolver.names["inside.test"] = ("10.0.0.1",)
    cases = (
        ({"url": "https://inside.test/in"}, "url", "is not a public address"),
        ({"url": "http://plain.test/"}, "url", "https"),
        ({"url": ""}, "url", "Fill in this field"),
        ({"url": "https://a.test/", "digest_timezone": "Mars/Olympus"}, "digest_timezone", "Not a time zone"),
        ({"url": "https://a.test/", "quiet": "yes", "quiet_to": "22:00"}, "quiet_hours", "at the same time"),
        ({"url": "https://a.test/", "quiet": "yes", "quiet_to": "soon"}, "quiet_to", "wrong format"),
    )
    for fields, field, words in cases:
        await browser.get(f"/destinations/new?alert={ALERT}")
        await browser.submit("/destinations/new", {"label": "Kept", **fields})
        assert browser.answer.status_code == 422, fields
        assert words in wrong_at(browser, field), fields
        kept = browser.form("/destinations/new").fields
        assert (kept["label"], kept["url"], kept["alert"]) == ("Kept", fields["url"], ALERT)
    assert len(await house.storage.alerts.destinations()) == 1
    await browser.get("/destinations/new")
    await browser.submit("/destinations/new", {"url": "https://a.test/"})
    assert "Choose the alert" in browser.text


async def test_an_edit_of_something_changed_meanwhile_is_refused(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(f"{ONE}/edit")
    await browser.submit(f"{ONE}/edit", {"label": "Renamed", "delivery_mode": "hourly", "format": "cloudevents"})
    assert (await house.storage.alerts.destinations())[0].format == "cloudevents"
    assert "Saved" in browser.text and "Renamed" in browser.text and "hourly" in browser.text
    await browser.get(f"{ONE}/edit")
    await a_hook(house, label="By another")
    await browser.submit(f"{ONE}/edit", {"label": "Mine"})
    assert browser.answer.status_code == 422 and "changed in another place" in browser.text
    assert browser.form(f"{ONE}/edit").fields["label"] == "Mine"


async def test_an_unchanged_address_is_not_checked_again(house: House, browser: Browser) -> None:
    await a_hook(house, url="https://nowhere.test/in")
    await browser.get(f"{ONE}/edit")
    await browser.submit(f"{ONE}/edit", {"label": "Renamed"})
    assert browser.answer.status_code == 200, browser.text
    await browser.get(f"{ONE}/edit")
    await browser.submit(f"{ONE}/edit", {"url": "https://nowhere.test/other"})
    assert browser.answer.status_code == 422 and "no such name" in browser.text


async def test_a_test_shows_status_time_and_answer_as_text(house: House, browser: Browser) -> None:
    await a_hook(house)

    async def receiver(*results: views.TestResult) -> None:
        for result in results:
            message = await house.destinations[HOOK].receive()
            assert isinstance(message, workers.TestDelivery)
            message.reply.answer(result)

    async with trio.open_nursery() as nursery:
        bad = views.TestResult("retry", 500, 7, "HTTP 500 <b>no</b>", "<b>no</b>")
        mute = views.TestResult("terminal", None, 15_000, "timeout after 15 s")
        nursery.start_soon(receiver, views.TestResult("sent", 200, 42, "", "<i>ok</i>"), bad, mute)
        for words in ("HTTP 200 after 42 ms. It said: “<i>ok</i>”", "HTTP 500, 7 ms. It said: “<b>no</b>”", "timeout"):
            await browser.get(ONE)
            await browser.submit(f"{ONE}/test")
            assert words in browser.text
            assert not browser.page.xpath("//main//b[text()='no'] | //main//i[text()='ok']")


async def test_a_disabled_destination_shows_why_and_offers_a_replay(house: House, browser: Browser) -> None:
    await a_hook(house, state="disabled", missed_after=Seq(5), failing_since=NOW)
    await browser.get(ONE)
    assert "It is disabled" in browser.text and "once you resume it" in browser.text
    await browser.submit(f"{ONE}/resume")
    assert "replay the missed matches" in browser.text and browser.form(f"{ONE}/replay").fields["since"]
    await browser.submit(f"{ONE}/decline")
    assert "stay undelivered" in browser.text and "Something was missed" not in browser.text
    await browser.submit(f"{ONE}/pause")
    assert "Paused. Nothing" in browser.text


async def test_a_new_secret_is_shown_once_while_both_sign(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(ONE)
    await browser.submit(f"{ONE}/rotate")
    hook = await house.storage.alerts.destination(HOOK)
    assert hook is not None and len(hook.secrets) == 2 and hook.secrets[0].value in browser.text
    assert "signed with both" in browser.text and "The old one signs until" in browser.text
    await browser.get(ONE)
    assert hook.secrets[0].value not in browser.text


async def test_it_is_deleted_by_the_typed_word_only(house: House, browser: Browser) -> None:
    await a_hook(house)
    await browser.get(ONE)
    await browser.submit(f"{ONE}/delete", {"confirm": "yes"})
    assert browser.answer.status_code == 422 and await house.storage.alerts.destination(HOOK)
    await browser.submit(f"{ONE}/delete", {"confirm": "Delete"})
    assert browser.path == "/destinations" and await house.storage.alerts.destination(HOOK) is None
    assert (await browser.get(ONE)).status_code == 404


async def test_a_range_is_replayed_piece_by_piece(house: House, browser: Browser) -> None:
    await a_hook(house)
    events = await house.publish(*(f"price {number}" for number in range(5)))
    await browser.get(f"{ONE}/deliveries")
    await browser.submit(f"{ONE}/replay", {"since": ids(events)[1]})
    assert "3 deliveries wait again" in browser.text
    assert isinstance(house.destinations[HOOK].receive_nowait(), OutboxGrew)
    await browser.get(ONE)
    assert browser.page.xpath("//span[@class='figure']/text()")[0] == "3"
    for fields, words in (
        ({}, "or a start time"),
        ({"since": "soon"}, "Enter a time or"),
        ({"ids": "x"}, "no such event"),
    ):
        await browser.get(f"{ONE}/deliveries")
        await browser.submit(f"{ONE}/replay", fields)
        assert browser.answer.status_code == 422 and words in browser.text, (fields, browser.text)


async def test_a_delivery_that_failed_shows_its_clock(house: House, browser: Browser) -> None:
    await a_hook(house, state="failing", failing_since=Millis(NOW - 1000))
    attempts(
        house, an_attempt("e1", "retry"), an_attempt("e1", "retry", attempt=2, next_at=Millis(NOW + 90 * 86_400_000))
    )
    await browser.get(ONE)
    steps = [step.text_content() for step in browser.page.xpath("//ol[@class='steps']/li")]
    assert steps[:4] == [
        "Attempt 1: at once (failed)",
        "Attempt 2: 5 s (failed)",
        "Attempt 3: 5 min (next)",
        "Attempt 4: 30 min",
    ]
    assert "failed 2 times; next in" in browser.text and len(steps) == 10


async def test_a_disabled_one_promises_no_further_try(house: House, browser: Browser) -> None:
    await a_hook(house, state="disabled", failing_since=NOW)
    attempts(house, an_attempt("e1", "retry", next_at=Millis(NOW + 90 * 86_400_000)))
    await browser.get(ONE)
    assert not browser.page.xpath("//ol[@class='steps']") and "next in" not in browser.text
    await browser.get(f"{ONE}/deliveries/1")
    assert "It waits: the destination is paused or disabled" in browser.text


async def test_today_names_one_that_was_disabled_but_none_that_was_paused(house: House, browser: Browser) -> None:
    await a_hook(house, state="disabled", failing_since=NOW)
    await a_hook(house, id=HOOK.replace("d1", "d2"), label="Paused", enabled=False, state="disabled")
    await browser.get("/")
    (need,) = browser.page.xpath("//section[@aria-labelledby='needs']//li")
    assert "Fix the receiver" in need.text_content()
    assert need.xpath(".//a/@href") == [ONE]


async def test_a_destination_without_its_secret_shows_so_until_it_has_one(house: House, browser: Browser) -> None:
    await a_hook(house, enabled=False, was_enabled=True)
    await browser.get("/")
    assert "needs a secret" in browser.text
    await browser.get(ONE)
    assert "Its secret is lost" in browser.text and "Resume" not in browser.text
    await browser.submit(f"{ONE}/rotate", {})
    assert "Give it to the receiver" in browser.text and "Its secret is lost" not in browser.text
    assert "Resume" in browser.text
