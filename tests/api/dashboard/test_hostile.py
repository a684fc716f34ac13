"""X12: text from the web and from users is text on every page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec
import trio
from msgspec.structs import replace

from actors.recorder.actor import build
from api.keys import new_key
from storage.append import events_of
from storage.records.access import Password
from storage.records.event import Change, Context, Contexts, Delta, DeltaStats, Diff, Draft, Op, Spans, Stored
from storage.records.identity import Seq, SourceId
from storage.records.source import Harvest, SourceRuntime, SourceState
from tests.api.dashboard.browser import PASSWORD, Browser
from tests.api.dashboard.hostile import PAYLOADS, Shape, shape, stays_text
from tests.api.house import BASE_URL, House
from tests.support.build import NOW, a_draft, a_source, a_source_id

SOURCE = a_source_id(1)


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return msgspec.json.encode(build(event_id, source, draft, BASE_URL, NOW))


def a_changed_page(text: str) -> Draft:
    """Return a draft with this text in every text field."""
    at = Context(text, text, text)
    ops = (
        Op("replace", 0, before=text, after=text, context=at),
        Op("insert", 1, text=text, context=at),
        Op("delete", 2, text=text),
    )
    spans = Spans(((1, 4),), ((0, 2), (3, 9)))
    return replace(
        a_draft("title"),
        source_type="html",
        title=text,
        author=text,
        content=text,
        url=text,
        source_url=text,
        content_hash=text,
        tags=(text,),
        delta=Delta(ops, DeltaStats(1, 1, 1, 1)),
        diff=Diff((text,), (text,), (Change(text, text, at, spans),), context=Contexts((at,), (at,))),
        summary=text,
    )


async def publish(house: House, told: Sequence[str | Draft]) -> list[Stored]:
    state = SourceState(SOURCE, SourceRuntime())
    if SOURCE not in house.storage.disk.sources():
        await house.storage.sources.add(a_source(1), state, house.storage.lease)
    harvest = Harvest(SOURCE, tuple(a_changed_page(one) if isinstance(one, str) else one for one in told), state)
    events = events_of(await house.storage.log.append([harvest], house.storage.lease, house.mint, stamp))
    await house.storage.tail.publish(events)
    return list(events)


def ids(events: Sequence[Stored]) -> list[str]:
    return [msgspec.json.decode(event.body)["id"] for event in events]


async def seen(browser: Browser, path: str) -> Shape:
    assert (await browser.get(path)).status_code == 200, browser.text
    return shape(browser.page)


async def test_x12_two_hundred_hostile_strings_in_every_field_of_events_stay_text(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    long = "harmless, but longer than a headline, so that the title is shown below it as well"
    harmless = ids(await publish(house, ["harmless", "https://site1.test/harmless", long]))
    one = frozenset().union(*[await seen(browser, f"/events/{id}") for id in harmless])
    stream = await seen(browser, "/stream") | await seen(browser, "/stream?cursor=") | frozenset(PAGER)
    today = await seen(browser, "/")
    for start in range(0, len(PAYLOADS), 50):
        texts = PAYLOADS[start : start + 50]
        published = ids(await publish(house, texts))
        for id, text in zip(published, texts, strict=True):
            await trio.sleep(0.1)
            await browser.get(f"/events/{id}")
            stays_text(browser.page, one)
            shown = browser.page.xpath("//*[@class='content']")[0].text_content()
            assert shown == text.replace("\x00", "\ufffd") or "\x00" in text
        await browser.get("/stream")
        stays_text(browser.page, stream)
        assert len(browser.page.xpath("//ol[@id='events']/li")) == 50
        await browser.get("/")
        stays_text(browser.page, today)


PAGER = (("nav", ("aria-label", "class")), ("a", ("class", "href", "rel")))


async def test_x12_names_of_keys_and_of_browsers_stay_text(house: House, browser: Browser) -> None:
    people, now = house.storage.people, house.context.world.now()
    password = Password(f"hash of {PASSWORD}", NOW)
    (mine,) = await people.sessions()

    async def named(text: str) -> str:
        _, key = new_key("harmless", ["stream:read"], entropy=house.context.world.entropy, now=now)
        await house.storage.keys.add(replace(key, name=text, prefix=text, scopes=("stream:read", text)))
        await people.sign_in(replace(mine, id=key.id, sha256=key.id, agent=text, address=text), password)
        return key.id

    one = f"/keys/{await named('harmless')}"
    shapes = {path: await seen(browser, path) for path in ("/settings", "/keys", one)}
    made = [await named(text) for text in PAYLOADS]
    for path in ("/settings", "/keys"):
        await browser.get(path)
        stays_text(browser.page, shapes[path])
        assert len(browser.page.xpath("//tbody/tr")) > len(PAYLOADS)
    for id in made[::5]:
        await browser.get(f"/keys/{id}")
        stays_text(browser.page, shapes[one])


async def test_x12_form_input_is_shown_as_text(browser: Browser) -> None:
    await browser.get("/keys/new")
    await browser.submit("/keys/new", {"name": "harmless", "rate": "much"})
    harmless = shape(browser.page) | WRONG
    await browser.get("/stream?keyword=harmless&tag=x")
    stream = shape(browser.page)
    await browser.get("/stream?source=x")
    stream |= shape(browser.page)
    for text in PAYLOADS[::4]:
        await browser.post("/keys/new", {"name": text, "rate": text, "channels": text})
        assert browser.answer.status_code == 422
        stays_text(browser.page, harmless)
        (name,) = browser.page.xpath("//input[@name='name']/@value")
        assert name == text or "\x00" in text
        for fields in ({"keyword": text, "tag": text}, {"source": text}):
            await browser.get(f"/stream?{urlencode(fields)}")
            stays_text(browser.page, stream)


WRONG: Shape = frozenset(
    ("input", ("aria-describedby", "aria-invalid", *rest))
    for rest in (
        ("autocomplete", "id", "inputmode", "name", "required", "type", "value"),
        ("autocomplete", "id", "name", "placeholder", "type", "value"),
    )
)
