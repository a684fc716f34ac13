from __future__ import annotations

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.messages.requests import SourcePatch
from actors.messages.sources import DeleteSource, EditSource
from actors.templates import instantiation
from actors.templates.instantiation import TIMED_OUT
from storage.records.alert import MOST_ALERTS, MOST_SOURCES
from storage.records.identity import SourceId
from tests.actors.matcher.rig import an_alert
from tests.actors.templates.rig import COMPETITORS, PATHS, TAG, a_market, statuses
from tests.actors.templates.samples import PAGE, a_template
from tests.support.disks import count
from tests.support.in_loop import Disk

ALERTS = [f"{COMPETITORS}/pricing", f"{COMPETITORS}/leadership"]


async def test_pages_that_do_not_exist_are_reported_and_the_others_attach(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        market.site("b.example", without=("careers", "blog"))
        report = await market.attach("a.example", "b.example", "absent.example")
        assert statuses(report.sources) == {
            **{f"a.example/{path}": "attached_new" for path in PATHS},
            "b.example/pricing": "attached_new",
            "b.example/careers": "failed",
            "b.example/about": "attached_new",
            "b.example/blog": "failed",
            **{f"absent.example/{path}": "failed" for path in PATHS},
        }
        reasons = {one.wanted.url.removeprefix("https://"): str(one.reason) for one in report.sources}
        assert "404" in reasons["b.example/careers"] and "404" in reasons["b.example/blog"]
        assert "does not resolve" in reasons["absent.example/about"]
        assert [(one.name, one.status, one.count) for one in report.alerts] == [
            ("Pricing and packaging changes", "created", 6),
            ("Leadership changes", "created", 6),
        ]
        assert not report.complete
        assert [one.type for one in report.sources[:4]] == ["html", "html", "html", "feed"]
        tags = (await market.library())["https://a.example/pricing"]
        assert tags == ("page:pricing", "company:a.example", TAG)


async def test_a_repeated_call_finds_existing_sources_and_attaches_new_ones(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example", without=("careers",))
        first = await market.attach("a.example")
        market.sites["a.example"].bodies["/careers"] = market.sites["a.example"].bodies["/about"]
        second = await market.attach("a.example")
        assert statuses(second.sources) == {
            "a.example/pricing": "attached_existing",
            "a.example/careers": "attached_new",
            "a.example/about": "attached_existing",
            "a.example/blog": "attached_existing",
        }
        assert second.complete and not first.complete
        assert [(one.status, one.count) for one in second.alerts] == [("exists", 4), ("exists", 4)]
        assert [one.alert for one in second.alerts] == [one.alert for one in first.alerts]
        assert [len(urls) for urls in (await market.covered()).values()] == [4, 4]
        third = await market.attach("a.example", alerts=False)
        assert {one.status for one in third.sources} == {"attached_existing"} and third.alerts == ()


async def test_other_domains_join_the_alerts_that_are_there(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        market.site("b.example")
        await market.attach("a.example")
        report = await market.attach("b.example")
        assert [(one.status, one.count) for one in report.alerts] == [("exists", 8), ("exists", 8)]
        assert list(await market.covered()) == ALERTS


async def test_an_alert_is_made_with_the_match_of_its_suggestion(autojump_clock: object) -> None:
    own = '[[alerts]]\nkey = "k"\nname = "N"\nquery = "x"\nmatch = "added"'
    template = a_template(PAGE.replace("/a.example/", "/a.example/about"), own)
    async with a_market() as market:
        market.site("a.example")
        await market.templates.instantiate(template, {}, alerts=True)
        assert [alert.match for alert in await market.service.storage.alerts.all()] == ["added"]


async def test_calls_that_race_end_in_one_library(autojump_clock: object) -> None:
    async with a_market() as market:
        for domain in ("a.example", "b.example", "c.example"):
            market.site(domain)
        reports = []

        async def call(*domains: str) -> None:
            reports.append(await market.attach(*domains))

        async with trio.open_nursery() as nursery:
            for domains in (("a.example", "b.example"), ("b.example", "a.example"), ("b.example", "c.example")):
                nursery.start_soon(call, *domains)
        assert all(report.complete for report in reports)
        news = [one.wanted.url for report in reports for one in report.sources if one.status == "attached_new"]
        assert sorted(news) == sorted(await market.library()) and len(news) == 12
        made = [one for report in reports for one in report.alerts if one.status == "created"]
        assert len(made) == 2
        assert await market.covered() == dict.fromkeys(ALERTS, sorted(news))


@pytest.mark.parametrize("writes", range(1, 6))
async def test_after_a_crash_half_way_the_next_call_does_the_rest(writes: int, autojump_clock: object) -> None:
    """A kill after the n-th write of its four sources and two alerts; the report never comes."""
    disk, done = Disk(), 0
    gone, one_at_a_time = trio.CancelScope(), trio.Lock()

    def dying(put: Any) -> Any:
        async def write(*args: Any) -> Any:
            nonlocal done
            async with one_at_a_time:
                result = await put(*args)
                done += 1
                if done == writes:
                    gone.cancel()
                    await trio.sleep_forever()
                return result

        return write

    with gone:
        async with a_market(disk) as market:
            market.site("a.example")
            storage: Any = market.service.storage
            storage.sources.add, storage.alerts.put = dying(storage.sources.add), dying(storage.alerts.put)
            await market.attach("a.example")
            raise AssertionError("it was not killed")
    assert gone.cancelled_caught and count(disk, "source") + count(disk, "alert") == writes
    async with a_market(disk) as market:
        market.site("a.example")
        report = await market.attach("a.example")
        assert report.complete
        assert [one.status for one in report.sources].count("attached_existing") == min(writes, 4)
        assert [one.status for one in report.alerts] == ["exists" if writes > 4 else "created", "created"]
        urls = sorted(f"https://a.example/{path}" for path in PATHS)
        assert sorted(await market.library()) == urls
        assert await market.covered() == dict.fromkeys(ALERTS, urls)
        assert (await market.attach("a.example")).complete


async def silent(stream: trio.abc.Stream) -> None:
    """A server that takes a request and never answers."""
    await trio.sleep_forever()


async def test_an_unfinished_instantiation_says_so_and_the_next_call_finishes_it(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        market.site("slow.example")
        servers, address = market.service.network.servers, str(market.service.network.names["slow.example"][0][0])
        awake = servers[address, 443]
        servers[address, 443] = silent
        began = trio.current_time()
        report = await market.attach("a.example", "slow.example")
        assert trio.current_time() - began <= instantiation.ATTACH_TIMEOUT + instantiation.ALERTS_TIMEOUT
        found = statuses(report.sources)
        assert {found[f"a.example/{path}"] for path in PATHS} == {"attached_new"}
        assert {found[f"slow.example/{path}"] for path in PATHS} == {"failed"}
        assert TIMED_OUT in {one.reason for one in report.sources}
        assert [one.count for one in report.alerts] == [4, 4]
        servers[address, 443] = awake
        await trio.sleep(360)  # its robots.txt could not be fetched
        report = await market.attach("a.example", "slow.example")
        assert report.complete and [one.count for one in report.alerts] == [8, 8]


async def test_a_slow_host_does_not_hold_up_the_others(autojump_clock: object) -> None:
    """Hosts take turns: ten competitors take as long as one at its host's limit."""
    async with a_market() as market:
        domains = [f"c{number}.example" for number in range(10)]
        for domain in domains:
            market.site(domain)
        began = trio.current_time()
        report = await market.attach(*domains)
        assert report.complete and len(report.sources) == 40
        assert trio.current_time() - began < 8
        for origin in market.sites.values():
            assert len(origin.asked) <= 5, "four pages and robots.txt"


async def test_all_calls_together_add_only_a_few_sources_at_once(autojump_clock: object) -> None:
    async with a_market(max_sources=1) as market:
        asked = most = 0
        ask = market.service.registry_box.ask

        class Counting:
            async def ask(self, make: Any) -> Any:
                nonlocal asked, most
                asked += 1
                most = max(most, asked)
                try:
                    await trio.sleep(0.1)
                    return await ask(make)
                finally:
                    asked -= 1

        market.templates._registry = Counting()  # type: ignore[assignment]
        async with trio.open_nursery() as nursery:
            for first in range(3):
                nursery.start_soon(market.attach, *(f"n{first}{number}.example" for number in range(10)))
        assert most == instantiation.AT_ONCE


async def test_a_full_library_is_distinguished_from_other_failures(autojump_clock: object) -> None:
    async with a_market(max_sources=2) as market:
        market.site("a.example", without=("pricing",))
        report = await market.attach("a.example")
        by_status = sorted((one.status, one.full) for one in report.sources)
        assert by_status == [("attached_new", False), ("attached_new", False), ("failed", False), ("failed", True)]
        (full,) = [one for one in report.sources if one.full]
        assert "max_sources is 2" in str(full.reason)


async def test_a_source_that_was_there_gets_the_templates_tag_and_keeps_its_own(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        added = await market.service.add("https://A.example:443/pricing", type="html", tags=("topic:mine",))
        report = await market.attach("a.example")
        assert report.sources[0].status == "attached_existing"
        assert report.sources[0].source == added.view.source.id
        assert (await market.library())["https://a.example/pricing"] == ("topic:mine", TAG)


async def test_a_change_of_a_sources_tags_leaves_the_templates_tag(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        source = (await market.attach("a.example")).sources[0].source
        assert source is not None
        edit = SourcePatch(tags=("topic:mine",))
        await market.service.registry_box.ask(lambda reply: EditSource(source, edit, reply))
        assert (await market.library())["https://a.example/pricing"] == ("topic:mine", TAG)


async def test_events_of_attached_sources_carry_the_tag(autojump_clock: object) -> None:
    async with a_market() as market:
        origin = market.site("a.example")
        found = (await market.attach("a.example")).sources[3].source
        assert found is not None
        origin.bodies["/blog"] = origin.bodies["/blog"].replace(
            b"<item>", b"<item><guid>new</guid><title>new</title><description>x</description></item><item>", 1
        )
        await trio.sleep(7200)
        (event,) = await market.service.events()
        assert event["title"] == "new" and TAG in event["tags"]


async def test_a_paused_source_stays_paused_and_says_so(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        source = (await market.attach("a.example")).sources[0].source
        assert source is not None
        await market.service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(enabled=False), reply))
        again = (await market.attach("a.example")).sources[0]
        assert (again.status, again.reason) == ("attached_existing", "it is paused: resume it to watch it")


async def test_an_alert_is_never_made_over_no_source(autojump_clock: object) -> None:
    """Such an alert would cover the whole library."""
    async with a_market() as market:
        report = await market.attach("absent.example")
        assert [(one.status, one.alert) for one in report.alerts] == [("failed", None)] * 2
        assert "no source is attached" in str(report.alerts[0].reason)
        assert await market.service.storage.alerts.all() == []


async def test_the_owners_changes_to_an_alert_stay(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        market.site("b.example")
        first = (await market.attach("a.example")).alerts[0].alert
        assert first is not None
        mine = {"name": "Prices", "filter_query": "price", "enabled": False, "source_ids": ()}
        await market.service.storage.alerts.edit(first, lambda alert: replace(alert, **mine))
        report = await market.attach("b.example")
        assert [(one.name, one.status, one.count) for one in report.alerts] == [
            ("Prices", "exists", 0),
            ("Leadership changes", "exists", 8),
        ]
        kept = await market.service.storage.alerts.get(first)
        assert kept is not None and {name: getattr(kept, name) for name in mine} == mine


async def test_a_deleted_alert_is_created_again(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        first = (await market.attach("a.example")).alerts[0].alert
        assert first is not None
        await market.service.storage.alerts.delete(first)
        again = await market.attach("a.example")
        assert [one.status for one in again.alerts] == ["created", "exists"]


async def test_a_deleted_source_is_attached_again(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        source = (await market.attach("a.example")).sources[1].source
        assert source is not None
        await market.service.registry_box.ask(lambda reply: DeleteSource(source, reply))
        again = await market.attach("a.example")
        assert [one.status for one in again.sources].count("attached_new") == 1


async def test_an_alert_takes_so_many_sources_and_no_more(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        first = (await market.attach("a.example")).alerts[0].alert
        assert first is not None
        many = tuple(SourceId(f"s{number}") for number in range(MOST_SOURCES))
        await market.service.storage.alerts.edit(first, lambda alert: replace(alert, source_ids=many))
        report = await market.attach("a.example")
        assert [one.status for one in report.alerts] == ["failed", "exists"]
        assert "at most 1000 sources" in str(report.alerts[0].reason)
        kept = await market.service.storage.alerts.get(first)
        assert kept is not None and kept.source_ids == many


async def test_when_there_is_no_room_for_alerts_the_sources_attach_all_the_same(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        for number in range(MOST_ALERTS - 1):
            await market.service.storage.alerts.put(an_alert(f"a{number}"))
        report = await market.attach("a.example")
        assert [one.status for one in report.alerts] == ["created", "failed"]
        assert f"there are {MOST_ALERTS} alerts" in str(report.alerts[1].reason)


async def test_a_full_disk_is_a_reason_and_the_next_call_does_the_rest(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        market.service.disk.full = True
        report = await market.attach("a.example")
        assert {one.reason for one in report.sources} == {"the storage accepts no writes now: call again"}
        market.service.disk.full = False
        await trio.sleep(60)
        assert (await market.attach("a.example")).complete


async def test_a_preview_finds_existing_sources_and_changes_nothing(autojump_clock: object) -> None:
    async with a_market() as market:
        market.site("a.example")
        await market.attach("a.example")
        asked = len(market.sites["a.example"].asked)
        resolved = len(market.service.network.resolved)
        before = await market.library(), await market.covered()
        template = market.templates.catalogue.get(COMPETITORS)
        assert template is not None
        seen = await market.templates.preview(template, {"domain": ("a.example", "b.example")})
        assert [known is not None for _, known in seen.sources] == [True] * 4 + [False] * 4
        assert sorted(seen.alerts) == ["leadership", "pricing"]
        assert (await market.library(), await market.covered()) == before
        assert len(market.sites["a.example"].asked) == asked
        assert len(market.service.network.resolved) == resolved
