"""Documents without HTML elements, watched as text pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, SourcePatch
from actors.messages.sources import (
    CheckNow,
    DescribeSource,
    DetectUrl,
    EditSource,
    ExplainSource,
    PreviewSource,
)
from tests.actors.sources.harness import SITE, Watching, page, rss, watching
from tests.extras.office.written_files import docx, pdf, word_table, xlsx

URL = f"https://{SITE}/document"
ITEMS = [
    f"- The {word} of the harbour is open again for boats of every size, says the harbour master." for word in "abcd"
]
NEW = "- The lighthouse will be dark for repairs in the first week of December, from Monday to Friday."
TEXT = "\n".join(("# Notices", "", *ITEMS, ""))
ROWS = [
    {"harbour": f"Harbour {n}", "says": f"The water stands at level {n} and rises slowly until noon."} for n in "abcd"
]
MORE = {"harbour": "Lighthouse", "says": "It will be dark for repairs in the first week of December."}
TABLE = "harbour,says\n" + "".join(f"{row['harbour']},{row['says']}\n" for row in ROWS)
SITEMAP = "".join(f"<url><loc>https://{SITE}/notices/of/the/harbour/{n}</loc></url>" for n in "abcd")
TEXTS = [f"A paragraph of a page about the {word}, with a dozen words or more in it, as it was." for word in "abcde"]
CELLS = [("harbour", "says"), *((row["harbour"], row["says"]) for row in ROWS)]
FORMS: dict[str, tuple[str | bytes, str | bytes, str, str]] = {
    "text": (TEXT, TEXT + NEW + "\n", "plain text, 5 lines", "lighthouse will be dark"),
    "json": (
        json.dumps({"updated": "2026-11-22T10:00:00Z", "rows": ROWS}),
        json.dumps({"updated": "2026-11-22T11:30:00Z", "rows": [MORE, *ROWS]}),
        "JSON, an object of 2 members",
        '"Lighthouse"',
    ),
    "csv": (TABLE, TABLE + "Lighthouse," + MORE["says"] + "\n", "CSV, 5 rows of 2 columns", "Lighthouse | It will"),
    "xml": (
        f"<urlset>{SITEMAP}</urlset>",
        f"<urlset><url><loc>https://{SITE}/the/lighthouse/is/dark</loc></url>{SITEMAP}</urlset>",
        "a sitemap, as XML, 4 lines",
        "the/lighthouse/is/dark",
    ),
    "pdf": (
        pdf([ITEMS]),
        pdf([[*ITEMS, MORE["says"]]]),
        "a PDF document, 1 page",
        "It will be dark",
    ),
    "docx": (
        docx(*ITEMS, word_table(CELLS)),
        docx(*ITEMS, word_table([*CELLS, ("Lighthouse", MORE["says"])])),
        "a Word document (DOCX), 4 paragraphs, 1 table",
        "It will be dark",
    ),
    "xlsx": (
        xlsx({"Levels": CELLS}),
        xlsx({"Levels": [*CELLS, ("Lighthouse", MORE["says"])]}),
        "a workbook (XLSX), 1 sheet, 5 rows",
        "It will be dark",
    ),
}


def as_bytes(body: str | bytes) -> bytes:
    return body if isinstance(body, bytes) else body.encode()


async def looked(service: Watching, source: Any) -> Any:
    """Check a source; return it."""
    await trio.sleep(61)
    await service.registry_box.ask(lambda reply: CheckNow(source, reply))
    await trio.sleep(5)
    return await service.registry_box.ask(lambda reply: DescribeSource(source, reply))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wished", [None, "html"])
async def test_a_change_in_a_document_is_reported_with_its_diff(form: str, wished: Any, autojump_clock: object) -> None:
    before, after, evidence, news = FORMS[form]
    async with watching() as (service, origin):
        origin.bodies["/document"] = as_bytes(before)
        source = (await service.add(URL, type=wished, schedule="2h")).view.source
        assert (source.type, source.detection.type, source.detection.format) == ("html", "html", form)
        assert source.detection.evidence.startswith(evidence) and not source.detection.forced
        assert source.detection.sitemap is (form == "xml")
        origin.bodies["/document"] = as_bytes(after)
        view = await looked(service, source.id)
        (event,) = await service.events()
        assert view.hot.last_error is None
        assert (event["source_type"], event["diff"]["removed"]) == ("html", [])
        assert any(news in text for text in event["diff"]["added"])
        assert news in event["content"]
        told = await service.registry_box.ask(lambda reply: ExplainSource(source.id, reply, news))
        assert told.reasons[0].kind == "told"


async def test_a_feed_that_is_declared_a_page_is_watched_as_one(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/document"] = rss(*(f"{n}|{text}" for n, text in enumerate(TEXTS)))
        source = (await service.add(URL, type="html", schedule="2h")).view.source
        assert (source.type, source.detection.type, source.detection.forced) == ("html", "feed", True)
        news = "The lighthouse will be dark for repairs in the first week of December, says the master."
        origin.bodies["/document"] = rss(f"9|{news}", *(f"{n}|{text}" for n, text in enumerate(TEXTS)))
        await looked(service, source.id)
        (event,) = await service.events()
        assert event["source_type"] == "html" and any(news in text for text in event["diff"]["added"])


@pytest.mark.parametrize("was", ["page", *FORMS])
@pytest.mark.parametrize("now", ["page", *FORMS, "binary"])
async def test_a_document_of_another_kind_has_lost_its_type_and_reports_nothing(
    was: str, now: str, autojump_clock: object
) -> None:
    bodies = {name: as_bytes(text) for name, (text, *_) in FORMS.items()} | {
        "page": page(*TEXTS),
        "binary": b"%PDF-1.7",
    }
    lines = {"text", "csv"}
    async with watching() as (service, origin):
        origin.bodies["/document"] = bodies[was]
        source = (await service.add(URL, schedule="2h")).view.source.id
        origin.bodies["/document"] = bodies[now]
        view = await looked(service, source)
        if was == now:
            assert view.hot.last_error is None
        elif not {was, now} <= lines:  # the lines stay comparable
            assert (view.hot.last_error or "").startswith("type lost: this was a")
            assert view.hot.breaker.state == "open"
            assert await service.news() == []


async def test_selectors_are_refused_for_a_text_in_a_sentence(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/document"] = TEXT.encode()
        says = r"plain text, 5 lines: a part of a text is chosen by lines"
        with pytest.raises(Unprocessable, match=says) as refused:
            await service.add(URL, selector="main")
        assert refused.value.location == "body.selector"
        with pytest.raises(Unprocessable, match=says) as refused:
            await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL, ignore=(".ad",)), reply))
        assert refused.value.location == "body.ignore"
        source = (await service.add(URL)).view.source.id
        with pytest.raises(Unprocessable, match=says):
            await service.registry_box.ask(lambda reply: PreviewSource(source, "main", (), reply))
        with pytest.raises(Unprocessable, match="a part of a text is chosen by lines") as refused:
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(selector="main"), reply))
        assert refused.value.location == "body.selector"


async def test_a_preview_of_a_text_shows_its_blocks(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/document"] = TEXT.encode()
        found = await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL), reply))
        shown = found.preview.page
        assert shown is not None and [block.text for block in shown.blocks] == ["# Notices", *ITEMS]
        assert (shown.watched, shown.left_out) == (5, 0)


async def test_a_document_asks_robots_txt_as_a_page_does(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/document"] = TEXT.encode()
        origin.bodies["/robots.txt"] = b"User-agent: *\nDisallow: /document\n"
        with pytest.raises(Unprocessable, match=r"robots\.txt forbids"):
            await service.add(URL)
