"""The screens of publications: make, find, edit, change the address, delete."""

from __future__ import annotations

import pytest
import trio
from msgspec.structs import replace
from msgspec.structs import replace as changed_record

from actors.messages.views import SourceView
from extras.publish.hub import Subscriptions
from storage.records.alert import Alert
from storage.records.identity import START, Millis
from storage.records.publication import Publication
from storage.records.source import SourceRuntime
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.extras.inbox.test_screens import an_alert
from tests.storage.contract.builders import a_publication, a_subscription
from tests.support.build import a_source, a_source_id

LOST = "019db0a4-a060-7000-8000-0000000000f1"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


async def the_only_one(house: House) -> Publication:
    (publication,) = await house.storage.publications.all()
    return publication


async def published(browser: Browser, query: str = "", **fields: object) -> Publication:
    await browser.get(f"/publications/new{query}")
    await browser.submit("/publications/new", {"title": "Prices", **fields})
    assert browser.answer.status_code == 200, browser.text
    return await the_only_one(browser.house)


async def test_the_empty_list_of_publications_explains_them(browser: Browser) -> None:
    await browser.get("/publications")
    assert "Nothing is published" in browser.text and "Publish events" in browser.text


async def test_one_is_made_with_all_that_can_be_chosen_and_shows_its_addresses(browser: Browser, house: House) -> None:
    await house.publish("one")
    alert: Alert = await an_alert(house)
    made = await published(browser, tags="prices, topic:ai,,prices", source_ids=[a_source_id(1)], alert_ids=[alert.id])
    assert (made.tags, made.source_ids, made.alert_ids, made.channel) == (
        ("prices", "topic:ai"),
        (a_source_id(1),),
        (alert.id,),
        None,
    )
    url = f"http://sanderling.test/published/{made.token}"
    for text in (
        url,
        f"{url}.atom",
        f"{url}.rss",
        f"{url}.json",
        "Matches of Prices from",
        "tagged prices or topic:ai",
    ):
        assert text in browser.text or f'<input readonly value="{text}"' in browser.answer.text, text
    assert browser.path == f"/publications/{made.id}"
    await browser.get("/publications")
    assert "1 publication" in browser.text and "Prices" in browser.text


async def test_a_private_source_is_chosen_in_the_form_and_stays_when_it_is_private_no_more(
    browser: Browser, house: House
) -> None:
    members = a_source_id(2)
    await house.publish("Tariff", source=2)
    view = SourceView(a_source(2), SourceRuntime(), private=True)
    house.registry.views[members] = view
    made = await published(browser, private_source_ids=[members])
    assert made.private_source_ids == (members,)
    house.registry.views[members] = replace(view, private=False)
    await browser.get(f"/publications/{made.id}/edit")
    await browser.submit(f"/publications/{made.id}/edit", {"title": "Fares"})
    changed = await the_only_one(house)
    assert (changed.title, changed.private_source_ids) == ("Fares", (members,))


@pytest.mark.parametrize("face", ["publication", "alert"])
@pytest.mark.parametrize("then", ["dismissed", "saved", "named"])
async def test_a_source_that_became_private_is_shown_until_seen(
    browser: Browser, house: House, face: str, then: str
) -> None:
    members, late = a_source_id(2), a_source_id(3)
    await house.publish("Tariff", source=2)
    alert = await an_alert(house)
    page = f"/alerts/{alert.id}" if face == "alert" else f"/publications/{(await published(browser)).id}"
    await trio.sleep(60)
    now = house.context.world.now()
    for id, source, since in ((members, a_source(2), now), (late, a_source(3, title="Late"), 0)):
        house.registry.views[id] = SourceView(source, SourceRuntime(private_since=Millis(since)), private=True)
        house.private.add(id)
    await trio.sleep(60)
    await browser.get(page)
    assert "Left out since they became private: https://site2.test/feed." in browser.text
    assert "Late" not in browser.text
    if then == "dismissed":
        await browser.submit(f"{page}/seen", {})
    else:
        await browser.get(f"{page}/edit")
        await browser.submit(f"{page}/edit", {"private_source_ids": [members]} if then == "named" else {})
    await browser.get(page)
    assert "became private" not in browser.text and "Late" in browser.text
    one = (await house.storage.alerts.all())[0] if face == "alert" else await the_only_one(house)
    assert one.private_source_ids == ((members,) if then == "named" else ())


@pytest.mark.parametrize("older", [True, False])
async def test_an_alert_lists_its_exclusions_as_left_out(browser: Browser, house: House, older: bool) -> None:
    alert = await an_alert(house)
    house.private.add(a_source_id(3))
    house.private_since = Millis(alert.created_at + (1 if older else -1))
    view = SourceView(a_source(3, title="Late"), SourceRuntime(private_since=Millis(0)), private=True)
    house.registry.views[a_source_id(3)] = view
    await browser.get(f"/alerts/{alert.id}")
    assert ("Left out, because" in browser.text) is older


async def test_a_publication_of_an_alert_has_the_alerts_sources(house: House) -> None:
    alert = changed_record(await an_alert(house), source_ids=(a_source_id(1),), channel="prices")
    hot = SourceRuntime(private_since=Millis(2))
    for of in ({"alert_ids": (alert.id,)}, {"channel": alert.channel}):
        one = changed_record(a_publication(), updated_at=Millis(1), **of)
        assert one.has_left(a_source(1), hot, [alert]) and not one.has_left(a_source(2), hot, [alert])


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (f"/sources/{a_source_id(1)}", "site1.test/feed"),
        ("/alerts/019db0a4-7d20-7000-8000-0000000000b1", "Prices"),
        ("/stream?tag=prices,topic:ai", "prices, topic:ai"),
        ("/stream?source_type=feed", ""),
        (f"/stream?source={a_source_id(1)}", "site1.test/feed"),
    ],
)
async def test_a_publication_is_made_from_the_page_that_shows_it(
    browser: Browser, house: House, page: str, title: str
) -> None:
    await house.publish("one")
    house.registry.views[a_source_id(1)] = SourceView(a_source(1), SourceRuntime())
    await an_alert(house)
    await browser.get(page)
    (form,) = browser.page.xpath("//main//a[starts-with(@href, '/publications/new')]/@href")
    await browser.get(form)
    assert browser.page.xpath("//input[@name='title']/@value") == [title]
    await browser.submit("/publications/new", {"title": "Out"})
    made = await the_only_one(house)
    assert made.title == "Out"
    wanted = {
        "/sour": ((a_source_id(1),), (), (), None),
        "/aler": ((), (), ("019db0a4-7d20-7000-8000-0000000000b1",), None),
        "tag=p": ((), ("prices", "topic:ai"), (), None),
        "sourc": ((), (), (), "feed") if "_type" in page else ((a_source_id(1),), (), (), None),
    }[page[:5] if "?" not in page else page.partition("?")[2][:5]]
    assert (made.source_ids, made.tags, made.alert_ids, made.channel) == wanted


async def test_an_edit_starts_from_the_stored_values_and_conflicts_with_another(browser: Browser, house: House) -> None:
    made = await published(browser, tags="prices", channel="feed")
    here = f"/publications/{made.id}"
    await browser.get(f"{here}/edit")
    assert browser.page.xpath("//input[@name='tags']/@value") == ["prices"]
    assert browser.page.xpath("//select[@name='channel']/option[@selected]/@value") == ["feed"]
    revision = browser.page.xpath("//input[@name='revision']/@value")[0]
    await browser.submit(f"{here}/edit", {"title": "Fares", "tags": "", "channel": ""})
    changed = await the_only_one(house)
    assert (changed.title, changed.tags, changed.channel, changed.token) == ("Fares", (), None, made.token)
    await browser.get(f"{here}/edit")
    await browser.submit(f"{here}/edit", {"title": "Late", "revision": revision})
    assert "changed in another place" in browser.text and (await the_only_one(house)).title == "Fares"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"title": ""}, "title"),
        ({"channel": "feed", "alert_ids": ["019db0a4-7d20-7000-8000-0000000000b1"]}, "not both"),
        ({"source_ids": ["019db0a4-7d20-7000-8000-0000000000ff"]}, "there is no source"),
        ({"source_ids": [HOSTILE]}, ""),
    ],
)
async def test_an_error_is_shown_and_the_input_stays(
    browser: Browser, house: House, fields: dict[str, object], says: str
) -> None:
    await an_alert(house)
    await browser.get("/publications/new")
    await browser.submit("/publications/new", {"title": "Kept", "tags": HOSTILE, **fields})
    assert browser.answer.status_code in (400, 422) and says in browser.text.casefold()
    assert browser.page.xpath("//input[@name='tags']/@value") == [HOSTILE]
    assert not await house.storage.publications.all()


async def test_another_address_and_the_end_want_a_word_typed(browser: Browser, house: House) -> None:
    made = await published(browser)
    here = f"/publications/{made.id}"
    for action, word in ((f"{here}/address", "new address"), (f"{here}/delete", "delete")):
        await browser.get(here)
        await browser.submit(action, {"confirm": "yes"})
        assert (await the_only_one(house)).token == made.token, action
        assert word in browser.text
    await browser.submit(f"{here}/address", {"confirm": "new address"})
    assert "another address" in browser.text and (await the_only_one(house)).token != made.token
    await browser.submit(f"{here}/delete", {"confirm": "delete"})
    assert browser.path == "/publications" and not await house.storage.publications.all()
    assert (await browser.get(here)).status_code == 404


async def test_the_end_of_a_publication_is_set_on_its_form_and_told_on_its_page(browser: Browser, house: House) -> None:
    made = await published(browser, ends_on="2099-12-31")
    assert made.ends_on == "2099-12-31" and "Shared until 2099-12-31." in browser.text
    assert f'<input readonly value="http://sanderling.test/published/{made.token}"' in browser.answer.text
    assert "Anyone with the address sees the titles" in browser.text
    await browser.get(f"/publications/{made.id}/edit")
    await browser.submit(f"/publications/{made.id}/edit", {"title": "Prices", "ends_on": "2020-01-31"})
    assert "410 Gone since the day after 2020-01-31" in browser.text
    await browser.get("/publications")
    assert "ended" in browser.text
    await browser.get(f"/publications/{made.id}/edit")
    await browser.submit(f"/publications/{made.id}/edit", {"title": "Prices", "ends_on": ""})
    assert (await the_only_one(house)).ends_on is None and "Set a last day" in browser.text


async def test_a_publication_with_a_lost_address_says_so(browser: Browser, house: House) -> None:
    await house.storage.publications.put(a_publication(LOST, token=None, title=HOSTILE))
    for path in ("/publications", f"/publications/{LOST}"):
        await browser.get(path)
        assert "unknown" in browser.text and not browser.page.xpath("//main//script")


async def test_many_are_shown_on_pages(browser: Browser, house: House) -> None:
    for number in range(30):
        await house.storage.publications.put(a_publication(f"p{number}"))
    await browser.get("/publications")
    assert len(browser.page.xpath("//tbody/tr")) == 25
    await browser.get("/publications?page=2")
    assert len(browser.page.xpath("//tbody/tr")) == 5
    await browser.get("/publications?page=9")
    assert "The list is shorter now" in browser.text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "All events of all public sources"),
        ({"tags": ("prices",)}, "Events tagged prices"),
        ({"tags": ("a", "b", "c", "d", "e")}, "Events tagged a, b, c or 2 more"),
        ({"channel": "feed", "tags": ("a", "b")}, "Events on the channel feed tagged a or b"),
        ({"alert_ids": ("gone",)}, "Matches of a deleted alert"),
        ({"source_ids": (a_source_id(1), a_source_id(9))}, "Events from site1.test/feed or a deleted source"),
    ],
)
async def test_the_list_describes_each_publication(
    browser: Browser, house: House, changes: dict[str, object], says: str
) -> None:
    await house.publish("one")
    await house.storage.publications.put(a_publication(**changes))
    await browser.get("/publications")
    assert browser.page.xpath("//td[@data-is='Shows']")[0].text_content() == says


async def test_a_publication_shows_the_number_of_its_hub_subscribers(browser: Browser, house: House) -> None:
    made = await published(browser)
    assert "None has subscribed yet" in browser.text
    for number in (1, 2):
        await Subscriptions(house.storage).put(
            a_subscription(
                f"s{number}", publication=made.id, token_hash=made.token_hash, callback=f"https://r{number}.test/"
            ),
            START,
        )
        await browser.get(f"/publications/{made.id}")
        assert (
            f"{number} reader{' gets' if number == 1 else 's get'} new events at once from the WebSub hub"
            in browser.text
        )


async def test_the_form_marks_private_sources_and_warns_before_it_publishes_one(browser: Browser, house: House) -> None:
    for n in (1, 2):
        await house.publish("Tariff", source=n)
        house.registry.views[a_source_id(n)] = SourceView(a_source(n), SourceRuntime(), private=n == 2)
    await browser.get("/publications/new")
    assert [one.text_content().split()[-1] for one in browser.page.xpath("//label[.//*[text()='private']]")] == [
        "private"
    ]
    assert "Anyone with the address sees the events of these sources, too" not in browser.text
    await browser.get(f"/publications/new?source={a_source_id(2)}")
    assert "Private: https://site2.test/feed. Anyone with the address sees the events" in browser.text


async def test_private_sources_of_one_title_show_their_addresses(browser: Browser, house: House) -> None:
    for n in (1, 2, 3):
        await house.publish("Tariff", source=n)
        source = replace(a_source(n), title="Members" if n < 3 else "Diary")
        house.registry.views[source.id] = SourceView(source, SourceRuntime(), private=True)
    await browser.get("/publications/new")
    boxes = browser.page.xpath("//fieldset[@id='f-private_source_ids']//label")
    shown = sorted(" ".join(box.text_content().split()) for box in boxes)
    assert shown == ["Diary", "Members (site1.test/feed)", "Members (site2.test/feed)"]
    made = await published(browser, private_source_ids=[a_source_id(1)])
    await browser.get(f"/publications/{made.id}")
    assert "private sources: Members (site1.test/feed)." in browser.text


async def test_a_last_day_that_has_passed_publishes_nothing(browser: Browser, house: House) -> None:
    await browser.get("/publications/new")
    await browser.submit("/publications/new", {"title": "Prices", "ends_on": "2020-01-01"})
    assert "This day has passed." in browser.text and await house.storage.publications.all() == []
