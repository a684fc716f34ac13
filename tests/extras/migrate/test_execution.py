"""A plan runs through the API: politely, repeatably, and with an honest report of refusals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import httpx
import msgspec
import pytest

from extras.migrate.drafting import AlertBody, DestinationBody, Drafting, Plan, PlannedAlert, PlannedSource, SourceBody
from extras.migrate.execution import BATCH, TRIES, ItemResult, Outcome, execute_plan
from sanderling.exits import CommandFailed, Exit
from storage.records.alert import MOST_SOURCES
from tests.extras.migrate.service import FakeService

HOOK = DestinationBody("https://hooks.example/hidden")


def sources(*urls: str, enabled: bool = True) -> tuple[PlannedSource, ...]:
    return tuple(PlannedSource(f"line {n}", SourceBody(url=url), enabled) for n, url in enumerate(urls, 1))


def alert(*urls: str, name: str = "n", query: str = "", to: Sequence[DestinationBody] = (HOOK,)) -> PlannedAlert:
    return PlannedAlert("line 1", AlertBody(name=name, filter_query=query), urls, tuple(to))


async def done(service: FakeService, plan: Plan, run: str = "r") -> list[ItemResult]:
    told: list[ItemResult] = []
    await execute_plan(service.client(), plan, Outcome(told.append), run)
    return told


def became(told: Sequence[ItemResult]) -> list[tuple[str, str]]:
    return [(one.what, one.became) for one in told]


async def test_sources_go_in_batches_and_their_hosts_in_turn() -> None:
    service = FakeService()
    urls = [f"https://{host}.test/{n}" for host in ("a", "b", "c") for n in range(20)]
    told = await done(service, Plan("urls", sources(*urls)))
    assert len(told) == 60 and all(one.became == "new" for one in told)
    assert [len(body["sources"]) for _, _, body in service.asked] == [BATCH] * 3
    assert service.hosts()[:6] == ["a.test", "b.test", "c.test"] * 2


async def test_a_second_run_adds_nothing_and_changes_nothing() -> None:
    service = FakeService()
    plan = Plan("urls", sources("https://a.test/", "https://b.test/", enabled=False), (alert("https://a.test/"),))
    first = await done(service, plan)
    before = repr((service.sources, service.alerts, service.destinations))
    second = await done(service, plan, "another run")
    assert became(first) == [("source", "new")] * 2 + [("alert", "new"), ("destination", "new")]
    assert became(second) == [("source", "there")] * 2 + [("alert", "there"), ("destination", "there")]
    assert repr((service.sources, service.alerts, service.destinations)) == before
    assert not any(one["enabled"] for one in service.sources.values())


async def test_a_source_that_its_owner_has_changed_stays_as_it_is() -> None:
    service = FakeService()
    await done(service, Plan("urls", sources("https://a.test/")))
    service.sources["https://a.test/"] |= {"updated_at": "3", "selector": "#mine"}
    body = SourceBody(url="https://a.test/", selector="#theirs")
    (told,) = await done(service, Plan("urls", (PlannedSource("line 1", body, enabled=False),)))
    assert told.says == "left as it is, with another selector than in the file"
    assert service.sources["https://a.test/"]["enabled"]


async def test_an_existing_paused_source_is_reported_as_paused() -> None:
    service = FakeService()
    await done(service, Plan("urls", sources("https://a.test/")))
    (told,) = await done(service, Plan("urls", sources("https://a.test/", enabled=False)))
    assert told.became == "there" and told.says == "paused, as in the file"
    assert not service.sources["https://a.test/"]["enabled"]


async def test_a_refused_row_is_reported_with_its_reason_and_stops_nothing() -> None:
    service = FakeService()
    service.becomes = lambda url: "gone" if "b" in url else ""
    plan = Plan(
        "urls", sources("https://a.test/", "https://b.test/"), (alert("https://b.test/"), alert("https://a.test/"))
    )
    told = await done(service, plan)
    assert [(one.name, one.says) for one in told if one.became == "refused"] == [
        ("https://b.test/", "it is gone"),
        ("n", "none of its sources exists"),
    ]
    assert [one["source_ids"] for one in service.alerts] == [["s0"]]


async def test_a_body_that_the_api_would_not_read_does_not_spoil_its_batch() -> None:
    service = FakeService()
    bad = PlannedSource("line 9", SourceBody(url="https://bad.test/", title="x" * 300))
    told = await done(service, Plan("urls", (*[bad] * 30, *sources("https://a.test/"))))
    assert became(told) == [("source", "refused")] * 30 + [("source", "new")]


async def test_a_url_that_takes_long_is_sent_again_a_few_times() -> None:
    service = FakeService()
    service.becomes = lambda url: "timeout" if "slow" in url else ""
    told = await done(service, Plan("urls", sources("https://slow.test/", "https://a.test/")))
    assert became(told) == [("source", "new"), ("source", "refused")]
    assert service.hosts().count("slow.test") == TRIES


async def test_after_a_full_library_no_more_sources_are_sent() -> None:
    service = FakeService()
    service.becomes = lambda _url: "library-full"
    told = await done(service, Plan("urls", sources(*(f"https://a.test/{n}" for n in range(500)))))
    assert len(told) == 500 and {one.says for one in told} == {"it is library-full"}
    assert len(service.asked) <= 2


async def test_it_goes_on_after_a_cut_and_no_request_makes_a_thing_twice(autojump_clock: object) -> None:
    service, cuts = FakeService(), iter((2, 3, 5, 7))
    at = next(cuts)

    def cut(number: int) -> httpx.Response | None:
        nonlocal at
        if number == at:
            at = next(cuts, 0)
            if number % 2:
                raise httpx.ReadError("cut")
            return httpx.Response(503, json={"detail": "stopping"})
        return None

    service.fails = cut
    urls = [f"https://a.test/{n}" for n in range(50)]
    told = await done(service, Plan("urls", sources(*urls), (alert(*urls),)))
    assert became(told)[-2:] == [("alert", "new"), ("destination", "new")] and len(service.alerts) == 1
    keys = [key for key in service.keys if key]
    assert len(set(keys)) == 2


async def test_a_service_that_was_never_there_is_not_waited_for() -> None:
    service = FakeService()

    def gone(_number: int) -> httpx.Response | None:
        raise httpx.ConnectError("refused")

    service.fails = gone
    with pytest.raises(CommandFailed, match=r"(?s)can't be reached.*Nothing was added") as caught:
        await done(service, Plan("urls", sources("https://a.test/")))
    assert caught.value.code is Exit.UNREACHABLE


async def test_an_unreachable_service_ends_the_import_with_a_report(autojump_clock: object) -> None:
    service = FakeService()
    service.fails = lambda number: httpx.Response(503, json={"detail": "down"}) if number > 3 else None
    with pytest.raises(CommandFailed, match=r"Down\.\n60 sources added\. Run the same command again") as caught:
        await done(service, Plan("urls", sources(*(f"https://a.test/{n}" for n in range(200)))))
    assert caught.value.code is Exit.TRY_AGAIN


@pytest.mark.parametrize("number", [1, 2])
async def test_a_key_that_may_not_ends_it_at_once(number: int) -> None:
    service = FakeService()
    service.fails = lambda asked: httpx.Response(403, json={"detail": "no scope"}) if asked >= number else None
    with pytest.raises(CommandFailed, match="No scope"):
        await done(service, Plan("urls", sources("https://a.test/"), (alert("https://a.test/"),)))
    assert len(service.asked) == number


async def test_an_alert_is_found_again_and_widened_to_the_sources_that_it_lacks() -> None:
    service = FakeService()
    service.becomes = lambda url: "gone" if "b" in url else ""
    plan = Plan("urls", sources("https://a.test/", "https://b.test/"), (alert("https://a.test/", "https://b.test/"),))
    await done(service, plan)
    service.becomes = lambda _url: ""
    told = await done(service, plan)
    assert became(told)[2:] == [("alert", "changed"), ("destination", "there")]
    assert [one["source_ids"] for one in service.alerts] == [["s0", "s1"]]


async def test_an_alert_of_the_same_name_with_other_destinations_is_left_unchanged() -> None:
    """Two files of one program: the first one's receiver must not get the second one's watches."""
    service = FakeService()
    await done(service, Plan("urls", sources("https://a.test/"), (alert("https://a.test/"),)))
    there = repr((service.alerts, service.destinations))
    other = alert("https://b.test/", to=(DestinationBody("https://other.example/in"),))
    told = await done(service, Plan("urls", sources("https://b.test/"), (other,)))
    assert became(told) == [("source", "new"), ("alert", "refused")] and "has other destinations" in told[1].says
    assert repr((service.alerts, service.destinations)) == there


def drafted(*alerts: PlannedAlert) -> Plan:
    """Return the plan of a file with these, as a reader drafts it."""
    drafting = Drafting()
    for one in alerts:
        for url in one.urls:
            drafting.source(one.place, url)
            drafting.alert(one.place, url, one.body, one.destinations)
    return drafting.plan("urls")


def told_by(service: FakeService) -> dict[str, set[str]]:
    """Return each receiver's URLs."""
    known = {one["id"]: url for url, one in service.sources.items()}
    told: dict[str, set[str]] = {}
    for one in service.alerts:
        for hook in service.destinations[one["id"]]:
            told.setdefault(hook["url"], set()).update(known[id_] for id_ in one["source_ids"])
    return told


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_alerts_of_one_name_are_found_again_in_any_order(order: Sequence[int]) -> None:
    """The file has the first of them, then all, then only the last."""
    shared = DestinationBody("https://shared.example/in")
    every = [
        alert(f"https://{who}.test/", to=(DestinationBody(f"https://{who}.example/in"), *more))
        for who, more in (("a", ()), ("b", (shared,)), ("c", (shared,)))
    ]
    some = [every[n] for n in order]
    service = FakeService()
    for n, plan in enumerate((drafted(some[0]), drafted(*some), drafted(*some[::-1]), drafted(some[-1]))):
        assert not [one for one in await done(service, plan, str(n)) if one.became == "refused"]
    assert len(service.alerts) == 3 and sum(map(len, service.destinations.values())) == 5
    assert told_by(service) == {
        "https://a.example/in": {"https://a.test/"},
        "https://b.example/in": {"https://b.test/"},
        "https://c.example/in": {"https://c.test/"},
        "https://shared.example/in": {"https://b.test/", "https://c.test/"},
    }


def test_the_mark_in_a_name_depends_on_its_content_only() -> None:
    other, third = (alert("https://b.test/", to=(DestinationBody(f"https://{n}.example/"),)) for n in "op")
    names = {one.destinations: one.body.name for one in drafted(alert("https://a.test/"), other).alerts}
    again = {one.destinations: one.body.name for one in drafted(third, other, alert("https://c.test/")).alerts}
    assert names.items() <= again.items() and len(set(again.values())) == 3 and "n" not in again.values()


async def test_a_source_that_is_too_large_for_a_request_is_refused_alone() -> None:
    service = FakeService()
    large = PlannedSource("line 9", SourceBody(url="https://large.test/", ignore=("\u00e9" * 1000,) * 50))
    small = sources(*(f"https://a.test/{n}" for n in range(5)))

    def full(_number: int) -> httpx.Response | None:
        _, _, body = service.asked[-1]
        size = len(msgspec.json.encode(body))
        return httpx.Response(413, json={"detail": "At most 65536 bytes of body are read."}) if size > 65536 else None

    service.fails = full
    told = await done(service, Plan("urls", (*small[:2], large, *small[2:])))
    assert sorted(one.name for one in told if one.became == "new") == [one.body.url for one in small]
    (refused,) = [one for one in told if one.became == "refused"]
    assert refused.name == "https://large.test/" and "larger than the service reads" in refused.says


async def test_an_alert_over_the_whole_library_and_one_that_is_full_stay_so() -> None:
    service = FakeService()
    service.alerts = [
        {"id": "a0", "name": "n", "filter_query": "", "language": "simple", "source_ids": []},
        {"id": "a1", "name": "m", "filter_query": "", "language": "simple", "source_ids": ["x"] * MOST_SOURCES},
    ]
    alerts = (alert("https://a.test/", to=()), alert("https://a.test/", name="m", to=()))
    told = await done(service, Plan("urls", sources("https://a.test/"), alerts))
    assert became(told)[1:] == [("alert", "there"), ("alert", "there")]


async def test_a_destination_that_is_refused_is_reported_by_its_host() -> None:
    service = FakeService()
    refused = DestinationBody("https://hooks.example/refused/hidden")
    told = await done(
        service, Plan("urls", sources("https://a.test/"), (alert("https://a.test/", to=(refused, HOOK)),))
    )
    assert [(one.name, one.became, one.says, one.secret) for one in told[2:]] == [
        ("hooks.example", "refused", "It is not public.", ""),
        ("hooks.example", "new", "", "whsec_x"),
    ]
