from __future__ import annotations

import json

import msgspec
import pytest
import trio

from actors.content import tasks
from actors.content.changes import churn
from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest
from actors.messages.sources import DetectUrl
from storage.records.event import Delta
from tests.actors.sources.harness import Origin, page, watching
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web
from tests.support.pages import apply

URL = "https://site.example/prices"
FILLER = [
    "The basic plan holds up to ten projects and one gigabyte of storage for each of them, for small teams.",
    "The team plan adds roles, an audit log and help by mail on every working day of the week, all year.",
    "Whoever pays for a whole year in advance gets two months of it without any further cost at all.",
]
MORE = [f"{text} This is paragraph {word}." for word in ("one", "two", "three", "four") for text in FILLER]
BASIC = "The basic plan costs 19 euros a month for every member of the team who signs in at least once."


async def test_a_digit_of_a_price_is_a_change_with_a_diff(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, BASIC)
        view = (await service.add(URL, tags=("label:p",))).view
        assert view.source.type == "html"
        origin.bodies["/prices"] = page(*FILLER, BASIC.replace("19", "29"), clock="12:44:09")
        await trio.sleep(3 * 3600)
        (event,) = await service.events()
        assert (event["source_type"], event["title"]) == ("html", "Page")
        (changed,) = event["diff"]["changed"]
        assert (changed["before"], changed["after"]) == (BASIC, BASIC.replace("19", "29"))
        assert event["tags"] == ["label:p", "change:updated"]
        assert event["delta"]["stats"]["changed"] == 1
        assert event["summary"].startswith("Page: ") and "29" in event["summary"]
        assert [changed["after"][slice(*span)] for span in changed["spans"]["after"]] == ["29"]


async def test_a_cell_of_a_table_says_which_one_it_is(autojump_clock: object) -> None:
    table = "<h2>Plans</h2><table><tr><th>Plan<th>Seats</tr><tr><td>Team<td>{}</tr></table>"
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, table.format(10))
        await service.add(URL)
        origin.bodies["/prices"] = page(*FILLER, table.format(12))
        await trio.sleep(3 * 3600)
        (event,) = await service.events()
        context = {"heading": "Plans", "row": "Team", "column": "Seats"}
        assert event["diff"]["changed"] == [{"before": "10", "after": "12", "context": context}]
        assert event["delta"]["ops"][0]["context"] == context
        assert event["summary"] == "Plans › Team · Seats: 10 → 12"
        assert "12" in event["content"].splitlines()


class DrawnForEachRequest(Origin):
    """An API whose answer names the request, its time and the machine."""

    def __call__(self, asked: ReceivedRequest) -> Answer:
        n = len(self.asked)
        machine, nonce = f"web-{n % 3:02}", f"{n * 40503 % 65536:04x}"
        drawn = {"requestId": f"{n * 7919:08x}-aa", "took": 3 + n % 5, "server": machine, "nonce": nonce}
        self.bodies["/prices"] = json.dumps({**drawn, "data": {"open": True, "price": 12.5}}).encode()
        return super().__call__(asked)


async def test_values_drawn_for_each_request_are_noise_from_the_second_check_on(autojump_clock: object) -> None:
    origin = DrawnForEachRequest()
    origin.headers["/prices"] = {"content-type": "application/json"}
    async with watching(origin) as (service, _):
        await service.add(URL, schedule="1h")
        await trio.sleep(12 * 3600)
        assert len(origin.looks("/prices")) > 10
        assert await service.events() == []


async def test_a_clock_in_the_footer_is_no_change_however_often_it_is_seen(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, BASIC)
        await service.add(URL)
        for second in range(10, 40):
            origin.bodies["/prices"] = page(*FILLER, BASIC, clock=f"12:00:{second}")
            await trio.sleep(600)
        assert await service.events() == []
        assert len(origin.looks("/prices")) > 5


async def test_a_figure_that_stays_unreported_is_not_judged_at_each_check(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, judge = list[object](), churn.judge
    monkeypatch.setattr(tasks, "judge", lambda *found, **more: judged.append(found) or judge(*found, **more))
    origin = Numbered()
    async with watching(origin) as (service, _):
        origin.text = page(*MORE, BASIC)
        await service.add(URL, schedule="10m")
        await trio.sleep(1200)
        origin.text = page(*MORE, BASIC, "12 readers")
        await trio.sleep(4 * 3600)
        judged.clear()
        asked = len(origin.asked)
        await trio.sleep(6 * 3600)
        assert len(origin.asked) - asked > 30
        assert len(judged) <= 1  # at midnight
        assert await service.events() == []
        origin.text = page(*MORE, BASIC.replace("19", "29"), "12 readers")
        await trio.sleep(1200)
        (event,) = await service.events()
        assert "29" in event["summary"]


class Numbered(Origin):
    """A page with another comment and program in each answer."""

    text = b""

    def __call__(self, asked: ReceivedRequest) -> Answer:
        code = b"</footer><!-- %d --><script>let n = %d</script>" % (len(self.asked), len(self.asked))
        self.bodies["/prices"] = self.text.replace(b"</footer>", code)
        return super().__call__(asked)


async def test_an_error_page_with_status_200_is_a_failed_check_and_no_change(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, BASIC)
        added = await service.add(URL)
        origin.bodies["/prices"] = b"<html><head><title>Just a moment...</title></head><body></body></html>"
        await trio.sleep(2 * 3600)
        assert await service.news() == []
        hot = service.registry.table.describe(added.view.source.id).hot
        assert hot.last_error is not None and "not the page itself" in hot.last_error
        origin.bodies["/prices"] = page(*FILLER, BASIC)
        await trio.sleep(3 * 3600)
        assert await service.news() == []
        assert service.registry.table.describe(added.view.source.id).hot.last_error is None


async def test_a_page_that_robots_txt_forbids_is_refused_in_words(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER)
        origin.bodies["/robots.txt"] = b"User-agent: sanderling\nDisallow: /prices\n"
        with pytest.raises(Unprocessable, match=r"robots\.txt"):
            await service.add(URL)
        assert len(service.registry.table) == 0


@pytest.mark.parametrize("road", ["add", "detect"])
async def test_a_declared_page_is_not_fetched_before_robots_txt_allows_it(autojump_clock: object, road: str) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER)
        origin.bodies["/robots.txt"] = b"User-agent: sanderling\nDisallow: /prices\n"
        with pytest.raises(Unprocessable, match=r"robots\.txt forbids watching this page: .* forbids /prices"):
            if road == "add":
                await service.add(URL, type="html")
            else:
                await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL, type="html"), reply))
        assert origin.looks("/prices") == []
        origin.bodies["/robots.txt"] = b""
        await trio.sleep(25 * 3600)
        await service.add(URL, type="html")
        assert [asked.target for asked in origin.asked[-2:]] == ["/robots.txt", "/prices"]


async def test_a_declared_page_that_redirects_asks_the_robots_txt_of_each_step(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        asked: list[ReceivedRequest] = []
        forbids = web(lambda one: Answer(200, b"User-agent: *\nDisallow: /\n"), asked)
        service.network.add("other.example", "93.184.216.35", forbids)
        origin.bodies["/prices"] = b""
        there = {"location": "http://other.example/"}
        redirecting = web(lambda one: Answer(404) if one.target == "/robots.txt" else Answer(302, b"", there), [])
        service.network.add("moved.example", "93.184.216.36", redirecting)
        with pytest.raises(Unprocessable, match=r"robots\.txt of http://other\.example forbids"):
            await service.add("http://moved.example/", type="html")
        assert [one.target for one in asked] == ["/robots.txt"]


async def test_the_delta_rebuilds_the_new_text_across_a_restart(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, BASIC)
        await service.add(URL)
    after = "A new paragraph of the page that tells about the discount for schools and public libraries."
    async with watching(origin, disk=disk) as (service, origin):
        origin.bodies["/prices"] = page(*FILLER, BASIC, after)
        await trio.sleep(3 * 3600)
        (event,) = await service.events()
        assert event["diff"]["added"] == [after]
        delta = msgspec.convert(event["delta"], Delta)
        before = ["Page", *FILLER, BASIC]
        assert apply(before, delta)[: len(before) + 1] == [*before, after]
