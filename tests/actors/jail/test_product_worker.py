"""The product's own worker on hostile bytes (X6, X8): it answers or fails in time on any input."""

from __future__ import annotations

import gzip
import re
import sys

import msgspec
import pytest
import trio

from actors.content.messages import BodyRequest, Finding, PageRequest
from actors.destination_kinds.kind import TemplateFailed, render
from actors.notification.dialects import TextLimits
from actors.notification.headline import notification_of
from actors.query.explain import PreviewAnswer, PreviewRequest
from actors.settings import Settings
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from tests.actors.jail.test_pool import a_jail
from tests.extras.office.written_files import pdf
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
WORKER = [sys.executable, "-m", "actors.jail.parent"]
URL = "https://a.example/"
FEED = b"<rss version='2.0'><channel><title>t</title><item><title>one</title><link>/1</link></item></channel></rss>"


def page(body: bytes) -> bytes:
    return msgspec.msgpack.encode(PageRequest(body, "text/html", URL))


def feed(body: bytes) -> bytes:
    return msgspec.msgpack.encode(BodyRequest(body, "application/rss+xml", URL))


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return FEED.replace(b"<rss", f'<!DOCTYPE x [<!ENTITY a0 "lol">{entities}]><rss'.encode()).replace(b"one", b"&a9;")


HOSTILE = {
    "300,000 attributes": ("look_page", page(b"<p " + b" ".join(b"a%d=1" % n for n in range(300_000)) + b">x</p>")),
    "200,000 nested divs": ("look_page", page(b"<div>" * 200_000 + b"x" + b"</div>" * 200_000)),
    "2 MB of comment openings in a feed": ("look_feed", feed(FEED.replace(b"one", b"&lt;!--" * 300_000))),
    "billion laughs": ("look_feed", feed(laughs())),
    "a gzip in a page": ("look_page", page(gzip.compress(bytes(1 << 20)))),
    "not a request at all": ("look_page", b"\xff\xff"),
}


async def test_the_product_answers_from_its_worker() -> None:
    settings = Settings()
    async with a_jail(WORKER, memory=settings.worker_memory) as jail:
        request = msgspec.msgpack.encode(BodyRequest(FEED, "text/html", URL))
        found = msgspec.msgpack.decode(await jail.call("detect", request, deadline=10))
        assert "feed" in found.values()


async def test_it_needs_no_dev_null_which_a_bare_root_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.devnull", "/nowhere/null")
    with trio.fail_after(HANG):
        async with a_jail(WORKER) as jail:
            assert b"rss" in await jail.call("detect", msgspec.msgpack.encode(BodyRequest(FEED, "", URL)))


async def test_a_worker_reads_a_pdf_though_its_library_loads_late() -> None:
    async with a_jail(WORKER, memory=Settings().worker_memory) as jail:
        request = msgspec.msgpack.encode(BodyRequest(pdf([["Fees of the harbour"]], packed=True), "", URL))
        found = msgspec.msgpack.decode(await jail.call("detect", request, deadline=10), type=Finding)
        assert (found.format, found.evidence) == ("pdf", "a PDF document, 1 page; served without a type")


async def test_a_worker_reads_whole_days_of_a_calendar_without_more_of_python() -> None:
    event = b"BEGIN:VEVENT\r\nDTSTART:20260503\r\nDTEND:20260505\r\nSUMMARY:Regatta\r\nEND:VEVENT\r\n"
    body = b"BEGIN:VCALENDAR\r\n" + event + b"END:VCALENDAR"
    async with a_jail(WORKER, memory=Settings().worker_memory) as jail:
        request = msgspec.msgpack.encode(BodyRequest(body, "", URL))
        found = msgspec.msgpack.decode(await jail.call("detect", request, deadline=10), type=Finding)
        assert found.format == "calendar"


async def test_a_worker_stems_though_it_opens_no_file_once_it_has_started() -> None:
    settings = Settings()
    async with a_jail(WORKER, memory=settings.worker_memory) as jail:
        for code, query, text in (
            ("sv", "föreläggande", "Förelägganden"),
            ("en", "price*", "Prices"),
            ("yi", "a", "A"),
        ):
            asked = PreviewRequest(query, code, (msgspec.json.encode({"title": text, "content": ""}),), 1)
            answer = await jail.call("preview_query", msgspec.msgpack.encode(asked), deadline=10)
            found = msgspec.msgpack.decode(answer, type=PreviewAnswer)
            assert (found.matched, found.why[0].title) == ((0,), ((0, len(text)),))


LOOPING = {
    "loops in loops": "{% for a in tags %}" * 12 + "{% if a == '' %}x{% endif %}" + "{% endfor %}" * 12,
    "a text that is doubled": "{% set a = content %}" + "{% set a = a ~ a %}" * 40 + "{{ a | wordcount }}",
    "a text in a text": "{{ content" + " | replace('e', title ~ title)" * 40 + " | count }}",
    "a list that is sorted": "{% set a = tags %}" + "{% set a = a + a %}" * 40 + "{{ a | sort | first }}",
    "deep brackets": "{{ " + "(" * 3000 + "title" + ")" * 3000 + " }}",
    "many signs": "{{ " + "-" * 4000 + "1 }}",
    "a number of many digits": "{{ ('9' | replace('9', '9' ~ content)) | int | round(99999) }}",
}


async def test_a_message_template_that_would_go_on_for_ever_is_ended_and_the_next_is_filled_in(
    subtests: pytest.Subtests,
) -> None:
    event = {"title": "seen", "content": "e" * 400, "tags": [f"tag {number}" for number in range(12)]}
    told = notification_of("0190", msgspec.json.encode(event))
    limits = TextLimits(text=4000)

    async def made(template: str) -> str:
        return (await render(jail, limits, {"message": template}, told)).written

    async with a_jail(WORKER, workers=1, memory=Settings().worker_memory) as jail:
        for name, template in LOOPING.items():
            with subtests.test(name):
                try:
                    assert len(await made(template)) <= 4000
                except TemplateFailed as error:
                    assert re.search("within 50 ms|too much memory|more than|nested|int|fill", error.reason), (
                        error.reason
                    )
                assert await made("{{ title }}") == "seen"


async def test_x8_a_worker_ends_at_the_deadline_for_any_input_and_serves_the_next() -> None:
    settings = Settings()
    async with a_jail(WORKER, workers=2, memory=settings.worker_memory) as jail:
        assert await jail.call("look_feed", feed(FEED), deadline=10)
        for name, (task, request) in HOSTILE.items():
            try:
                await jail.call(task, request, deadline=1.0)
            except (WorkerTooSlow, WorkerDied, TaskRefused) as outcome:
                assert str(outcome), name
            assert await jail.call("look_feed", feed(FEED), deadline=10)
