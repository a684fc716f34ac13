"""Conditional checks, and the trust in an origin's own dates of changes."""

from __future__ import annotations

from email.utils import formatdate

import pytest
import trio

from actors.sources.schedule.cadence import decode
from tests.actors.sources.harness import ADDRESS, SITE, Watching, page, rss, watching
from tests.support.build import NOW
from tests.support.memory_network import Answer, ReceivedRequest, web

URL = f"https://{SITE}/feed"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it, at 10 euros."


class Script:
    """An origin with a settable answer; it keeps its requests."""

    def __init__(self) -> None:
        self.answer = Answer(200, rss("a"))
        self.asked: list[ReceivedRequest] = []

    def join(self, service: Watching) -> None:
        serve = web(lambda asked: self.answer if asked.target != "/robots.txt" else Answer(404), self.asked)
        service.network.servers[ADDRESS, 443] = serve

    def says(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.answer = Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def last(self) -> dict[str, str]:
        return self.asked[-1].headers


async def hour() -> None:
    await trio.sleep(3600)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"etag": '"v1"'}, {"if-none-match": '"v1"'}),
        ({"etag": 'W/"v1"'}, {"if-none-match": 'W/"v1"'}),
        ({"last-modified": "Sat, 21 Feb 2026 10:00:00 GMT"}, {"if-modified-since": "Sat, 21 Feb 2026 10:00:00 GMT"}),
        ({"last-modified": "gestern"}, {"if-modified-since": "gestern"}),
        ({"etag": '"v1"', "last-modified": "x"}, {"if-none-match": '"v1"', "if-modified-since": "x"}),
        ({}, {}),
    ],
)
async def test_validators_are_sent_back_unchanged(
    autojump_clock: object, given: dict[str, str], sent: dict[str, str]
) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.answer = Answer(200, rss("a"), given)
        await service.add(URL)
        await hour()
        asked = {name: value for name, value in script.last().items() if name.startswith("if-")}
        assert asked == sent
        assert len(script.asked) > 2


async def test_another_etag_with_the_same_body_is_no_change_and_the_newer_one_is_sent(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(rss("a"), etag='"one"')
        source = (await service.add(URL)).view.source.id
        calls = service.world.jail.calls  # type: ignore[attr-defined]  # the jail of tests counts
        script.says(rss("a"), etag='"two"')
        await hour()
        assert service.world.jail.calls == calls, "nothing was parsed"  # type: ignore[attr-defined]  # as above
        assert script.last()["if-none-match"] == '"two"'
        assert service.registry.table.describe(source).hot.unchanged > 1


async def test_the_same_etag_with_another_body_is_a_change(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(rss("a"), etag='"same"')
        await service.add(URL)
        script.says(rss("b", "a"), etag='"same"')
        await hour()
        assert await service.titles() == ["b"]


async def test_a_304_may_bring_newer_validators_and_keeps_those_that_it_does_not_name(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(rss("a"), etag='"one"', last_modified="then")
        await service.add(URL)
        script.says(b"", 304, etag='W/"two"')
        await hour()
        assert (script.last()["if-none-match"], script.last()["if-modified-since"]) == ('W/"two"', "then")
        script.says(rss("b", "a"))
        await hour()
        assert await service.titles() == ["b"], "the hash of the body was kept"


async def test_x3_validators_stay_behind_when_the_url_begins_to_redirect(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(rss("a"), etag='"secret"')
        await service.add(URL)
        elsewhere: list[ReceivedRequest] = []
        service.network.add("other.example", "93.184.220.1", web(lambda asked: Answer(200, rss("a")), elsewhere), 443)
        script.says(b"", 302, location="https://other.example/feed", etag='"of the redirect"')
        await hour()
        assert elsewhere
        assert not any(name.startswith("if-") for asked in elsewhere for name in asked.headers)
        assert not any(name.startswith("if-") for name in script.last()), "it is not where the last answer came from"


async def burst_after(ago: float) -> float:
    """Return the expected burst rate after a change that Last-Modified dates `ago` seconds before the check."""
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(page(TEXT))
        source = (await service.add(f"https://{SITE}/page", schedule="30m")).view.source.id
        await hour()
        stamp = formatdate(NOW / 1000 + trio.current_time() + 1800 - ago, usegmt=True)
        script.says(page(TEXT.replace("10", "12")), last_modified=stamp)
        await trio.sleep(3700)
        hot = service.registry.table.describe(source).hot
        assert hot.events == 1, "the content says whether"
        return decode(hot.pace).rhythm.quick


async def test_a_pages_last_modified_says_when_it_changed(autojump_clock: object) -> None:
    early, late = await burst_after(1500.0), await burst_after(300.0)
    assert early != late


async def test_a_last_modified_alone_is_no_change(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Script()
        script.join(service)
        script.says(page(TEXT), last_modified=formatdate(NOW / 1000 - 9000, usegmt=True))
        await service.add(f"https://{SITE}/page")
        script.says(page(TEXT), last_modified=formatdate(NOW / 1000 + 60, usegmt=True))
        await hour()
        assert await service.events() == []


class Deaf(Script):
    """An origin that answers 304 to any conditional request."""

    def join(self, service: Watching) -> None:
        def serve(asked: ReceivedRequest) -> Answer:
            if asked.target == "/robots.txt":
                return Answer(404)
            return Answer(304) if any(name.startswith("if-") for name in asked.headers) else self.answer

        service.network.servers[ADDRESS, 443] = web(serve, self.asked)

    def plain(self) -> int:
        return sum("if-none-match" not in one.headers for one in self.asked if one.target != "/robots.txt")


@pytest.mark.parametrize("path", ["feed", "page"])
@pytest.mark.parametrize("said", [{"etag": '"always"'}, {"last_modified": "Sat, 21 Feb 2026 10:00:00 GMT"}])
async def test_an_origin_that_never_changes_its_validator_is_found_out_in_a_day(
    autojump_clock: object, path: str, said: dict[str, str]
) -> None:
    bodies = (rss("a"), rss("b", "a")) if path == "feed" else (page(TEXT), page(TEXT.replace("10", "12")))
    async with watching() as (service, _):
        script = Deaf()
        script.join(service)
        script.says(bodies[0], **said)
        source = (await service.add(f"https://{SITE}/{path}", schedule="1h")).view.source.id
        await trio.sleep(86_400 - 7200)
        script.says(bodies[1], **said)
        before = len(script.asked)
        await trio.sleep(2 * 3600 + 4000)
        assert len(await service.events()) == 1, "the first check of a day has no condition"
        await trio.sleep(86_400)
        assert len(script.asked) - before > 20
        assert not any(name.startswith("if-") for name in script.last()), "what lied is sent no more"
        assert service.registry.table.describe(source).hot.validators.lies


async def test_a_correct_origin_gets_an_unconditional_request_once_a_day(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Deaf()
        script.join(service)
        script.says(rss("a"), etag='"v1"')
        source = (await service.add(URL, schedule="1h")).view.source.id
        first = script.plain()
        await trio.sleep(4 * 86_400 + 7200)
        assert script.plain() - first == 4
        assert not service.registry.table.describe(source).hot.validators.lies


async def test_a_clock_set_back_before_the_creation_makes_no_day_of_its_own(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Deaf()
        script.join(service)
        script.says(rss("a"), etag='"v1"')
        await service.add(URL, schedule="1h")
        first = script.plain()
        service.ahead = -2 * 3600
        await trio.sleep(86_400 - 7200)
        assert len(script.asked) > 20
        assert script.plain() == first


async def test_a_last_modified_that_lies_ahead_is_no_validator(autojump_clock: object) -> None:
    async with watching() as (service, _):
        script = Deaf()
        script.join(service)
        script.says(rss("a"), last_modified="Fri, 15 Feb 2041 10:00:00 GMT")
        await service.add(URL)
        script.says(rss("b", "a"), last_modified="Fri, 15 Feb 2041 10:00:00 GMT")
        await hour()
        assert await service.titles() == ["b"]
