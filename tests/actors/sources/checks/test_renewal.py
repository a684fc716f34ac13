"""Once a site's answer has started, nothing loses the renewed session."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.egress.cookies import SetCookies
from actors.egress.url import parse_url
from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, SourcePatch
from actors.messages.sources import DetectUrl, EditSource, ExplainSource, PreviewSource
from actors.sources.checks.access import renewal_of
from storage.records.identity import SourceId
from tests.actors.sources.checks.test_access import SIGN_IN, TEXT, URL
from tests.actors.sources.checks.test_source_fetch import Renewing, hot_of, stored
from tests.actors.sources.harness import SITE, Watching, page, watching
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest

HEADERS = "Cookie: session=t0"
HTML = {"content-type": "text/html"}
STRANGER = {**HTML, "set-cookie": "session=stranger; Path=/"}
WITHIN = 20.0
"""Seconds until a body arrives, within a check's deadline."""


class Slow(Renewing):
    """A site that delays the next body after its head, or with `late` the whole answer."""

    def __init__(self, *, late: bool = False, within: float = WITHIN) -> None:
        super().__init__()
        self.pause, self.under_way, self.late, self.within = 0.0, trio.Event(), late, within

    def answer(self, asked: ReceivedRequest) -> Answer:
        answer = super().answer(asked)
        if self.pause and asked.target != "/robots.txt":
            answer.after, answer.pause = (self.pause, 0.0) if self.late else (0.0, self.pause)
            self.pause = 0.0
            self.under_way.set()
        return answer

    async def wait_under_way(self) -> None:
        """Delay the next answer; return halfway through its delay."""
        self.pause, self.under_way = self.within, trio.Event()
        await self.under_way.wait()
        await trio.sleep(self.within / 2)


async def joined(service: Watching, site: Renewing, **wish: Any) -> SourceId:
    site.join(service)
    return (await service.add(URL, headers=HEADERS, **wish)).view.source.id


async def two_more(site: Renewing) -> None:
    """Wait until all failing answers are used up, and for two more checks."""
    for _ in range(400):
        if not site.fails:
            break
        await trio.sleep(60)
    enough = len(site.looks()) + 2
    for _ in range(400):
        if len(site.looks()) >= enough:
            break
        await trio.sleep(60)


@pytest.mark.parametrize("heads", [[], [Answer(302, b"", {"location": "/more", "set-cookie": "session=t1; Path=/"})]])
async def test_a_crash_while_a_body_is_on_its_way_loses_no_session(autojump_clock: object, heads: list[Answer]) -> None:
    """This includes a session from a redirect whose target is not fetched yet."""
    disk, site = Disk(), Slow()
    async with watching(disk=disk) as (service, _):
        await joined(service, site)
        site.fails = heads[:]
        site.number += len(heads) - bool(heads)
        await site.wait_under_way()
        disk.crash()
    async with watching(disk=disk) as (service, _):
        site.join(service)
        await two_more(site)
        (source,) = disk.sources()
        assert hot_of(service, source).last_error is None
        asked = [line for line in site.looks() if line]
        assert all("stranger" not in line for line in asked) and len(asked) > 2


async def test_a_body_that_is_cut_loses_no_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        source = await joined(service, site)
        site.fails = [Answer(200, page(TEXT), {**HTML, "set-cookie": "session=t9; Path=/"}, cut=20)]
        site.number = 9
        await two_more(site)
        assert hot_of(service, source).last_error is None
        assert "session=t9" in site.looks()


@pytest.mark.parametrize("status", [500, 429])
async def test_cookies_of_a_failed_response_are_taken_as_browsers_do(autojump_clock: object, status: int) -> None:
    async with watching() as (service, _):
        site = Renewing()
        source = await joined(service, site)
        site.fails = [Answer(status, b"", {"set-cookie": "session=t9; Path=/"})]
        site.number = 9
        await two_more(site)
        assert hot_of(service, source).last_error is None
        assert "session=t9" in site.looks()


async def test_after_a_failure_with_a_signed_out_session_the_earlier_one_is_tried(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Renewing()
        source = await joined(service, site)
        site.fails = [Answer(500, b"", STRANGER)]
        await two_more(site)
        looks = site.looks()
        assert hot_of(service, source).last_error is None
        assert looks.count("session=stranger") == 1, "and never again"
        assert "stranger" not in hot_of(service, source).cookies


async def test_a_crash_on_the_way_to_a_sign_in_form_leaves_the_good_session(
    autojump_clock: object,
) -> None:
    disk, site = Disk(), Slow()
    async with watching(disk=disk) as (service, _):
        source = await joined(service, site)
        site.fails = [Answer(200, SIGN_IN, STRANGER)]
        await site.wait_under_way()
        assert "stranger" in (await stored(service, source)).cookies
        disk.crash()
    async with watching(disk=disk) as (service, _):
        site.join(service)
        await two_more(site)
        assert hot_of(service, source).last_error is None and "session=stranger" in site.looks()
        assert "stranger" not in hot_of(service, source).cookies


async def test_a_change_of_the_source_in_the_middle_of_a_check_loses_no_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Slow()
        source = await joined(service, site)
        await site.wait_under_way()
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(title="Mine"), reply))
        await two_more(site)
        assert hot_of(service, source).last_error is None


async def test_an_unanswered_why_loses_no_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        source = await joined(service, site, schedule="6h")
        await trio.sleep(4_000)
        site.fails = [Answer(500, b"", {"set-cookie": "session=t99; Path=/"})]
        await service.registry_box.ask(lambda reply: ExplainSource(source, reply, "anything", check_now=True))
        assert not site.fails
        site.number = 99
        await two_more(site)
        assert "session=t99" in site.looks() and hot_of(service, source).last_error is None


async def test_checks_of_one_session_that_are_under_way_together_go_each_with_the_newest(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Slow()
        lender = await joined(service, site, headers_for=(SITE,))
        sources = [lender, *[(await service.add(f"https://{SITE}/{n}")).view.source.id for n in range(2)]]
        for _ in range(30):
            site.pause = WITHIN  # so that others are due at the same time
            await trio.sleep(10)
        assert len(site.looks()) > 8
        assert {hot_of(service, source).last_error for source in sources} == {None}
        assert len(set(site.looks())) == len(site.looks()), "each session was used once"


async def test_a_delayed_check_sends_the_renewed_session_and_nothing_newer(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        source = await joined(service, Renewing())
        live = service.registry.table.get(source)
        seen = service.ports.lenders.resolve(live)
        renewal = renewal_of(service.ports, seen)
        before = renewal.access.cookies
        await trio.sleep(1_500)
        known = live.cookies.current
        renewal.reject()
        assert live.cookies.current == known != "" and str(source) in repr(renewal) and "session" not in repr(renewal)
        assert renewal.begin().cookies == known != before
        renewal.on_response(parse_url(URL), SetCookies(("session=stranger; Path=/",)))
        assert "stranger" in live.cookies.current
        renewal.reject()
        assert live.cookies.current == known


async def test_a_renewed_session_costs_an_extra_write_only_when_it_changed(autojump_clock: object) -> None:
    async with watching(sweep=86_400.0) as (service, _):
        site = Renewing()
        await joined(service, site)
        site.fails = [Answer(200, page(TEXT), {"set-cookie": f"session=t{n}; Path=/"}) for n in range(1, 40)]
        began = service.recorder_box.statistics().received
        await trio.sleep(2_000)
        looks = 39 - len(site.fails)
        assert looks > 2 and service.recorder_box.statistics().received - began <= looks + 1


GIVEN = {"": {"title": "Mine"}, "other headers": {"headers": "Cookie: session=t70"}}


async def edited(service: Watching, site: Renewing, source: SourceId, what: str) -> None:
    """Change a source; new headers come from a new sign-in."""
    if what:
        site.number = 70
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**GIVEN[what]), reply))


def used(site: Renewing) -> list[int]:
    """Return the sessions of all checks, each of them a real one."""
    return [int(cookie.removeprefix("session=t")) for cookie in site.looks()]


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("what", GIVEN)
async def test_an_edit_of_a_lender_while_another_checks_with_its_session_loses_none(
    autojump_clock: object, what: str, late: bool
) -> None:
    """Before or after the head of that answer, which carries a new session."""
    disk, site = Disk(), Slow(late=late)
    async with watching(disk=disk) as (service, _):
        lender = await joined(service, site, headers_for=(SITE,), schedule="6h")
        borrower = (await service.add(f"https://{SITE}/1")).view.source.id
        await site.wait_under_way()
        await edited(service, site, lender, what)
        await trio.sleep(WITHIN)
        await two_more(site)
        disk.crash()
    async with watching(disk=disk) as (service, _):
        site.join(service)
        await two_more(site)
        assert [hot_of(service, source).last_error for source in (lender, borrower)] == [None, None]
        sessions = used(site)
        assert sessions == sorted(set(sessions)) and bool(what) is (70 in sessions), "each once, and no old one"


@pytest.mark.parametrize("what", GIVEN)
@pytest.mark.parametrize("asked", ["why", "pick", "preview of a page that borrows"])
async def test_an_edit_during_a_manual_check_loses_no_session(autojump_clock: object, what: str, asked: str) -> None:
    async with watching() as (service, _):
        site = Slow(late=True, within=4.0)  # an explanation waits 8 s at most
        source = await joined(service, site, headers_for=(SITE,), schedule="6h")
        await trio.sleep(4_000)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(site.wait_under_way)
            if asked == "why":
                nursery.start_soon(
                    service.registry_box.ask, lambda reply: ExplainSource(source, reply, "anything", check_now=True)
                )
            elif asked == "pick":
                nursery.start_soon(service.registry_box.ask, lambda reply: PreviewSource(source, None, (), reply))
            else:
                wish = DetectRequest(f"https://{SITE}/2")
                nursery.start_soon(service.registry_box.ask, lambda reply: DetectUrl(wish, reply, reads=True))
            await trio.sleep(1)
            await edited(service, site, source, what)
        await two_more(site)
        assert hot_of(service, source).last_error is None
        sessions = used(site)
        assert sessions == sorted(set(sessions)) and bool(what) is (70 in sessions)


async def test_a_sign_in_form_in_a_preview_with_lent_headers_does_not_become_the_session(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Renewing()
        source = await joined(service, site, headers_for=(SITE,))
        site.fails = [Answer(200, SIGN_IN, STRANGER), Answer(403, b"", STRANGER)]
        await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(f"https://{SITE}/2"), reply, reads=True))
        with pytest.raises(Unprocessable):
            await service.registry_box.ask(
                lambda reply: DetectUrl(DetectRequest(f"https://{SITE}/3"), reply, reads=True)
            )
        await two_more(site)
        assert hot_of(service, source).last_error is None and "session=stranger" not in site.looks()
