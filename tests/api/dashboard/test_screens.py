"""The screens Today, Event, Stream, API keys and System."""

from __future__ import annotations

import httpx
import pytest
import trio
from msgspec.structs import replace

from actors.matcher import Lag
from actors.messages.views import SourceView
from actors.sources.schedule.budgets import CheckRate
from api.dashboard.rendering import asset
from api.dashboard.today import need_of
from api.fields.admin import TreeRow
from extras.cluster.members.membership import SharedOwnership
from storage.records.alert import Alert
from storage.records.event import Stored
from storage.records.identity import Millis, Seq
from storage.records.member import WEB, Member, ReplicaState, Says, View
from storage.records.source import Health, SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.rows import a_hook, an_attempt, attempts
from tests.api.dashboard.test_hostile import a_changed_page, ids, publish
from tests.api.house import House, make_house, running
from tests.support.build import NOW, a_source, a_source_id


async def test_today_shows_first_steps_until_there_are_events(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    assert "Or watch something of your own" in browser.text and "Paste any URL" in browser.text
    assert len(browser.page.xpath("//form[@action='/sources/look']/button[@name='urls']/@value")) == 3
    await publish(house, ["The rope is cheaper"])
    await browser.get("/")
    assert "The rope is cheaper" in browser.text
    (live,) = browser.page.xpath("//ol[@data-live]")
    assert live.get("data-live") == "/live" and live.get("data-since") == ids(await newest(house))[0]
    (chart,) = browser.page.xpath("//svg[@role='img']")
    assert chart.get("aria-label") == "Events in the last 24 hours: 1. Most in one hour: 1, in this one: 1."


async def newest(house: House) -> list[Stored]:
    recent = house.storage.tail.since(house.storage.tail.head - 1)
    assert recent
    return [one.stored for one in recent]


async def test_the_list_summarises_the_change_of_a_page(house: House, browser: Browser) -> None:
    summary = "Ropes: 19 → 17"
    await house.publish(replace(a_changed_page("The rope is cheaper"), summary=summary))
    for path in ("/", "/stream"):
        await browser.get(path)
        (item,) = browser.page.xpath("//ol[@id='events']/li")
        assert [part.text_content() for part in item.xpath("p")[:2]] == [f"{summary} · The rope is cheaper", summary]


async def test_a_list_names_the_source_as_its_user_does_and_else_the_host(house: House, browser: Browser) -> None:
    for number, name in ((1, "Ropes & sails"), (2, "")):
        source = replace(a_source(number), title=name)
        await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)
    told = [*await house.publish("one"), *await house.publish("two", source=2)]
    await browser.get("/stream")
    says = {item.get("data-id"): item.text_content() for item in browser.page.xpath("//ol[@id='events']/li")}
    assert says[ids(told)[0]].endswith("feed · Ropes & sails") and says[ids(told)[1]].endswith("feed · site1.test")
    gone = "01926f3b-0000-7000-8000-000000000000"
    await browser.get(f"/rows?ids={ids(told)[1]},{gone},rubbish,{ids(told)[0]}")
    live = {item.get("data-id"): item.text_content() for item in browser.page.xpath("//ol[@id='events']/li")}
    assert live == says and list(live) == ids(told)[::-1]
    assert (await browser.get("/rows")).status_code == 200 and not browser.page.xpath("//li")


async def test_today_lists_problems_that_need_attention(house: House, browser: Browser) -> None:
    house.readiness = {"recorder": "The recorder has not moved for 60 s."}
    await browser.get("/")
    assert "Needs attention" in browser.text and "The recorder has not moved" in browser.text
    await browser.get("/system")
    assert "Not ready" in browser.text and "recorder" in browser.text
    main = browser.page.xpath("//main")[0].text_content()
    assert main.index("Problems") < main.index("The recorder has not moved") < main.index("Load")
    assert "All parts work." not in main
    assert not browser.page.xpath("//main/details[@open]"), "the rest is folded"


async def test_r2_today_says_that_deliveries_come_later(house: House, browser: Browser) -> None:
    await browser.get("/")
    assert "matching late" not in browser.text
    house.lag = Lag(84_210, 3_725.0)
    await browser.get("/")
    assert "Needs attention" in browser.text and "84,210 events not matched with alerts yet" in browser.text


async def test_today_says_that_checks_exceed_the_budget(house: House, browser: Browser) -> None:
    await browser.get("/")
    assert "looks_per_second" not in browser.text
    house.spent = CheckRate(40.0, 10.0, 240.0)
    await browser.get("/")
    assert "40.0 checks per second" in browser.text and "for 4 min." in browser.text


async def test_a_source_that_needs_attention_is_listed_by_its_name(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    source = a_source(1, found_title="Harbour notices", enabled=True)
    house.registry.views[source.id] = SourceView(source, SourceRuntime(health=Health(0.1, "rotten")))
    await trio.sleep(60)  # the order of the tree is cached for a while
    for path in ("/", "/system"):
        await browser.get(path)
        (link,) = browser.page.xpath(f"//a[@href='/sources/{source.id}']")
        assert link.text_content() == "Harbour notices"


def test_a_problem_shows_its_name_reason_and_next_try() -> None:
    later = "2027-01-15T08:05:00.000Z"
    row = TreeRow(
        "destinations/d", "https://a.test/in", "destination", "failing", None, None, 0, later, "HTTP 500", later
    )
    found = need_of(row, {"destinations/d": "the price desk"})
    assert found is not None
    assert (found.name, found.says, found.next, found.path) == ("the price desk", "HTTP 500", later, "/destinations/d")
    assert need_of(row, {}) == found._replace(name="https://a.test/in")


async def test_a_notice_shows_its_text_before_its_difference(house: House, browser: Browser) -> None:
    title, says = "A page now leads elsewhere: Ropes", "The page now leads to https://other.test/"
    draft = replace(a_changed_page("The rope is cheaper"), title=title, content=says, alert_type="source_moved")
    (id,) = ids(await publish(house, [draft]))
    await browser.get(f"/events/{id}")
    (text,) = browser.page.xpath("//article/*[@class='content']")
    assert text.text_content() == says and text.xpath("following-sibling::h2/text()") == ["What changed"]
    assert "The text now" not in browser.text


async def test_an_event_names_the_source_that_it_comes_from(house: House, browser: Browser) -> None:
    (id,) = ids(await publish(house, ["The rope is cheaper"]))
    stored = await house.storage.log.get(id)
    assert stored is not None
    watched = await house.storage.sources.get(stored.source)
    assert watched is not None
    source = replace(watched.source, found_title="Ropes and nets")
    await house.storage.sources.update(source, house.storage.lease, before=None)
    await browser.get(f"/events/{id}")
    assert browser.page.xpath(f"//a[@href='/sources/{source.id}']/text()") == ["Ropes and nets"]


async def test_hours_that_are_over_are_counted_once(house: House, browser: Browser, autojump_clock: object) -> None:
    counted = 0
    count = house.storage.log.count_between

    async def counting(*between: object) -> int:
        nonlocal counted
        counted += 1
        return await count(*between)

    house.storage.log.count_between = counting
    await browser.get("/")
    await browser.get("/")
    assert counted == 2
    await trio.sleep(3600)
    await browser.get("/")
    assert counted == 4


async def test_an_event_leads_to_the_ones_before_and_after_it_of_its_source(house: House, browser: Browser) -> None:
    first, middle = await house.publish("one", "two")
    await house.publish("elsewhere", source=2)
    (last,) = await house.publish("three")
    for event, ways in (
        (first, {"next": middle}),
        (middle, {"prev": first, "next": last}),
        (last, {"prev": middle}),
    ):
        await browser.get(f"/events/{ids([event])[0]}")
        found = {link.get("rel"): link.get("href") for link in browser.page.xpath("//nav[@class='pager']/a")}
        assert found == {rel: f"/events/{ids([other])[0]}" for rel, other in ways.items()}


async def test_an_event_shows_why_it_was_reported_and_its_deliveries(house: House, browser: Browser) -> None:
    (event,) = await house.publish("The price of rope")
    (id,) = ids([event])
    await browser.get(f"/events/{id}")
    assert "No alert matches it now" in browser.text and "it is on your streams and in the log" in browser.text
    await a_hook(house)
    for hook, changes in (
        ("waits", {}),
        ("later", {"created_at": Millis(NOW + 86_400_000)}),
        ("digest", {"delivery_mode": "daily"}),
    ):
        await house.storage.alerts.put_destination(replace(await a_hook(house), id=hook, label=hook, **changes))
    attempts(house, an_attempt(id, "retry"), an_attempt(id, "sent"), an_attempt("another", "given_up"))
    await browser.get(f"/events/{id}")
    (why,) = browser.page.xpath("//section[@aria-labelledby='why']")
    assert "an entry that had not been seen before" in why.text_content() and "Alert: Prices" in why.text_content()
    says = {
        item.xpath("a")[0].text_content(): " ".join(item.text_content().split())
        for item in browser.page.xpath("//section[@aria-labelledby='who']//li")
    }
    assert says["hooks.test"] == "hooks.test delivered 2026-05-28 20:26:40 UTC"
    assert "no stored attempt" in says["waits"] and "was made later" in says["later"] and "by digest" in says["digest"]


async def test_the_times_of_an_event_have_date_and_zone_and_its_hashes_are_folded(
    house: House, browser: Browser
) -> None:
    (event,) = await house.publish("one")
    browser.client.cookies.set("tz", "Asia/Kolkata")
    await browser.get(f"/events/{ids([event])[0]}")
    assert "+05:30 Asia/Kolkata" in browser.text and f"/events/{ids([event])[0]}" in browser.text
    (folded,) = browser.page.xpath("//details[summary='Hashes']")
    assert (
        "sha256:" in folded.text_content()
        and browser.text.count("sha256:") - folded.text_content().count("sha256:") == 1
    )


async def test_an_event_shows_its_change_by_sign_its_alerts_and_its_json(house: House, browser: Browser) -> None:
    await house.storage.alerts.put(Alert("a1", "Ropes", "rope", "en", (), NOW, NOW))
    await house.storage.alerts.put(Alert("a2", "Nets", "net", "en", (), NOW, NOW))
    await house.storage.alerts.put(Alert("a3", "Off", "rope", "en", (), NOW, NOW, enabled=False))
    (id,) = ids(await publish(house, ["The rope is cheaper"]))
    await browser.get(f"/events/{id}")
    assert [line.text_content().split()[0] for line in browser.page.xpath("//*[@class='diff']/*")] == [
        "The",
        "−",
        "+",
        "+",
        "−",
    ]
    (where,) = browser.page.xpath("//*[@class='where']")
    assert where.text_content() == "The rope is cheaper › The rope is cheaper · The rope is cheaper"
    assert browser.page.xpath("//section//a[starts-with(@href, '/alerts/')]/@href") == ["/alerts/a1"]
    assert "Not verified" in browser.text
    assert '"title": "The rope is cheaper"' in browser.page.xpath("//details//pre")[0].text_content()
    assert (await browser.get(f"/events/{a_source_id(9)}")).status_code == 404


async def test_the_stream_filters_pages_and_explains_a_wrong_filter(house: House, browser: Browser) -> None:
    await browser.get("/stream")
    assert "Nothing yet" in browser.text
    await publish(house, [f"Rope {n}" for n in range(30)] + [f"Net {n}" for n in range(30)])
    await browser.get("/stream")
    items = browser.page.xpath("//ol[@id='events']/li")
    assert len(items) == 50 and "Net 29" in items[0].text_content()
    (more,) = browser.page.xpath("//a[@rel='next']/@href")
    await browser.get(more)
    assert len(browser.page.xpath("//ol[@id='events']/li")) == 10
    assert not browser.page.xpath("//ol[@data-live]"), "an older page stands still"
    await browser.get("/stream?keyword=rope%2C+sail&source_type=html&tag=")
    assert len(browser.page.xpath("//ol[@id='events']/li")) == 30
    (live,) = browser.page.xpath("//ol[@data-live]/@data-live")
    assert live == "/live?keyword=rope&keyword=sail&source_type=html"
    assert "/v1/stream?keyword=rope&keyword=sail&source_type=html" in browser.text
    await browser.get("/stream?source=nonsense")
    assert browser.answer.status_code == 400 and "Sources: no source is called “nonsense”." in browser.text
    assert browser.page.xpath("//input[@name='source']/@value") == ["nonsense"]
    assert (await browser.get("/stream?nonsense=1")).status_code == 400


async def test_a_live_list_gets_its_parts(house: House, browser: Browser, autojump_clock: object) -> None:
    (old, new) = ids(await publish(house, ["Rope 1", "Rope 2"]))
    other = await signed_in(house)
    follow = browser.client.stream("GET", "/live?keyword=rope", headers={"Last-Event-ID": old})
    async with follow as answer, trio.open_nursery() as nursery:

        async def end_later() -> None:
            await trio.sleep(1)
            await other.get("/settings")
            await other.submit("/settings/sessions/end-others")

        nursery.start_soon(end_later)
        written = b"".join([piece async for piece in answer.aiter_raw()])
    await other.client.aclose()
    assert [line for line in written.splitlines() if line.startswith(b"id: ")] == [f"id: {new}".encode()]


async def test_live_channels_are_those_of_the_api(browser: Browser) -> None:
    assert (await browser.client.head("/live/nothing")).status_code == 404
    assert (await browser.client.head("/live/html")).status_code == 200


async def test_a_key_is_shown_once_works_and_ends_with_its_deletion(house: House, browser: Browser) -> None:
    await browser.get("/keys")
    assert "No API keys yet" in browser.text
    await browser.get("/keys/new")
    await browser.submit("/keys/new", {"name": "news room", "scopes": ["stream:read"], "channels": "pricing, alerts"})
    (plaintext,) = [one.text_content() for one in browser.page.xpath("//pre") if one.text_content().startswith("svc_")]
    here = browser.path
    await browser.get(here)
    assert plaintext not in browser.answer.text and "read the channel pricing" in browser.text
    (key,) = await house.storage.keys.all()
    assert key.scopes == ("stream:read", "stream:read:pricing", "stream:read:alerts")
    async with house.stranger(Authorization=f"Bearer {plaintext}") as program:
        assert (await program.get("/v1/events")).status_code == 200
        await browser.submit(f"{here}/delete", {"confirm": "newsroom"})
        assert browser.answer.status_code == 422 and "To confirm, type: news room" in browser.text
        assert browser.page.xpath("//*[@id='faults']//a/@href") == ["#f-confirm"]
        assert browser.page.xpath("//details[@open]//input[@id='f-confirm']/@aria-describedby") == ["e-confirm"]
        await browser.submit(f"{here}/delete", {"confirm": "news room"})
        assert browser.path == "/keys" and "deleted. Its next request" in browser.text
        assert (await program.get("/v1/events")).status_code == 401
    assert (await browser.get(here)).status_code == 404
    assert plaintext not in repr(house.logs)


async def test_a_form_reports_all_errors_at_once_and_keeps_the_input(browser: Browser) -> None:
    await browser.get("/keys/new")
    await browser.submit("/keys/new", {"name": "", "rate": "lots", "burst": "0", "scopes": ["admin"]})
    assert browser.answer.status_code == 422
    assert browser.page.xpath("//title")[0].text.startswith("Error: ")
    faults = [link.get("href") for link in browser.page.xpath("//*[@id='faults']//a")]
    assert faults == ["#f-name", "#f-rate", "#f-burst"]
    assert all(browser.page.xpath(f"//*[@id='{fault[1:]}']/@aria-invalid") == ["true"] for fault in faults)
    assert [box.get("value") for box in browser.page.xpath("//input[@checked]")] == ["admin"]
    assert browser.page.xpath("//input[@name='rate']/@value") == ["lots"]
    for fields, says in (
        ({"name": "x"}, "Choose at least one"),
        ({"name": "x", "channels": "Not Good"}, "name is 1 to 63"),
        ({"name": "\x1b[31m", "scopes": "admin"}, "printable"),
        ({"name": "x", "scopes": "everything"}, "there is no such scope"),
    ):
        await browser.get("/keys/new")
        await browser.submit("/keys/new", fields)
        assert says in browser.text


async def test_system_shows_parts_and_settings_with_their_origin(autojump_clock: object) -> None:
    house = make_house(retention_days=30.0)
    async with running(house):
        browser = await signed_in(house)
        await browser.get("/system")
        assert "30 days" in browser.text and "0 bytes" in browser.text and "Largest sources" not in browser.text
        await house.publish("a", "b" * 2_000)
        await browser.get("/system")
        (row,) = browser.page.xpath("//tr[td[@data-is='Size']]")
        assert [cell.text_content() for cell in row.xpath("td")] == ["2", "7.2 KiB"]
        row = browser.page.xpath("//tr[th/code[text()='retention_days']]")[0]
        assert [cell.text_content() for cell in row.xpath("td")][:2] == ["30 d", "default"]
        await browser.get("/system?filter=nothing-is-called-so")
        assert "No part matches" in browser.text
        assert browser.page.xpath("//input[@name='filter']/@value") == ["nothing-is-called-so"]


@pytest.mark.parametrize("path", ["/keys/nothing", "/events/nothing", "/keys/new/x", "/assets/x/style.css", "/assets/"])
async def test_a_missing_object_is_a_page_with_a_link_back(browser: Browser, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code == 404 and browser.page.xpath("//a[@href='/']")
    assert answer.headers["Content-Type"].startswith("text/html")


async def test_an_unknown_path_is_a_page_in_a_browser_and_a_problem_in_the_api(stranger: Browser) -> None:
    for accept, media in (("text/html,*/*;q=0.8", "text/html"), ("*/*", "application/problem+json")):
        for path, kind in (("/deliveries", media), ("/v1/nothing", "application/problem+json")):
            answer = await stranger.client.get(path, headers={"Accept": accept})
            assert answer.status_code == 404 and answer.headers["Content-Type"].startswith(kind)


async def test_static_files_may_be_cached_for_ever_under_the_url_of_their_content(stranger: Browser) -> None:
    for name in ("style.css", "dashboard.js", "live.js", "icon.svg", "touch-icon.png"):
        answer = await stranger.client.get(asset(name).url)
        assert answer.status_code == 200 and answer.content == asset(name).body
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_programs_that_ask_for_an_icon_by_its_name_get_one(stranger: Browser) -> None:
    answer = await stranger.client.get("/favicon.ico")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/x-icon")
    assert answer.content[:4] == b"\0\0\1\0" and answer.headers["Cache-Control"] == "public, max-age=86400"


async def test_an_internal_error_shows_no_details_and_is_logged(house: House, browser: Browser) -> None:
    async def broken() -> None:
        raise RuntimeError("the secret reason")

    house.storage.keys.all = broken
    answer = await browser.get("/keys")
    assert answer.status_code == 500 and "secret" not in browser.text
    (fault,) = [fields for event, fields in house.logs if event == "http.fault"]
    assert fault["request_id"] in browser.text


async def test_forms_that_are_none_are_refused(browser: Browser) -> None:
    for content, media, status in (
        (b"{}", "application/json", 415),
        (b"token=\xff", "application/x-www-form-urlencoded", 400),
        (b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"--x", "multipart/form-data", 400),
    ):
        headers = {"Origin": "http://sanderling.test", "Content-Type": media}
        answer: httpx.Response = await browser.client.post("/sign-out", content=content, headers=headers)
        assert answer.status_code == status, media
    await browser.get("/settings")
    assert browser.path == "/settings", "still signed in"


async def test_while_the_service_stops_pages_say_so(house: House, browser: Browser) -> None:
    house.draining = True
    assert (await browser.get("/keys")).status_code == 503


async def test_s3_an_unauthenticated_form_without_an_end_is_refused_once_it_is_too_large(house: House) -> None:
    head = b"POST /sign-in HTTP/1.1\r\nHost: sanderling.test\r\nOrigin: http://sanderling.test\r\n"
    kind = b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream = await house.raw(head + kind + b"11170\r\n" + b"x" * 70_000 + b"\r\n")
    with trio.fail_after(5):
        assert (await stream.receive_some(12)).endswith(b"413")


async def test_system_shows_the_nodes_their_roles_and_the_loss_of_a_failover(autojump_clock: object) -> None:
    house = make_house()
    ownership = house.storage.ownership = SharedOwnership("a")
    seen, gone = Seq((NOW - 60_000) << 20), Seq((NOW - 5_000) << 20)
    at_a, at_b = Says(sources=1200, ends=seen, shown=gone), Says(role=WEB)
    ownership.take(View(1, 0.0, (Member("a", inside=True, says=at_a), Member("b", inside=True, says=at_b))))
    async with running(house):
        browser = await signed_in(house)
        await browser.get("/system")
        rows = [row.text_content() for row in browser.page.xpath("//h2[@id='nodes']/following::table[1]//tr")][1:]
        assert "1,200" in rows[0] and "Events are missing" in rows[0] and "Web only" in rows[1]
        assert "A failover of PostgreSQL lost" in browser.text and "No node watches" not in browser.text
        ownership.take(View(2, 0.0, (Member("b", inside=True, says=at_b),)))
        await browser.get("/system")
        assert "No node watches sources" in browser.text and "failover" not in browser.text


async def test_system_shows_how_far_the_replica_is(autojump_clock: object) -> None:
    house = make_house()
    async with running(house):
        browser = await signed_in(house)
        await browser.get("/system")
        assert "Replica" not in browser.text
    state = ReplicaState(place="/mnt/standby")
    house = make_house()
    house.storage.replica = state
    async with running(house):
        browser = await signed_in(house)
        await browser.get("/system")
        assert "Begins" in browser.text and "/mnt/standby has nothing yet." in browser.text
        state.told_at = Millis(NOW)
        await browser.get("/system")
        assert "Up to date" in browser.text and "has all up to" in browser.text
        state.says = "/mnt/standby: this folder does not exist; make it, or mount its disk"
        await browser.get("/system")
        assert "Behind" in browser.text and "mount its disk." in browser.text
