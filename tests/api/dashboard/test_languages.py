"""Every page in a made-up language that puts our texts between ⟦ and ⟧.
All data is Greek, so Latin letters outside of the marks are untranslated English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest
from lxml.html import HtmlElement
from msgspec.structs import replace

from actors.inheritance import effective
from actors.language.catalogues import NATIVE, languages
from actors.messages.views import SourceView
from actors.notices import damage_notice, notice_draft
from api.app import SCREENS
from storage.records.alert import Alert
from storage.records.source import Health, SourceRuntime, TagDefaults
from tests.actors.language.gathering import gathered
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.rows import ALERT, HOOK, a_hook, an_attempt, attempts
from tests.api.dashboard.sources.test_listing import put
from tests.api.dashboard.sources.test_one import HOT
from tests.api.dashboard.test_hostile import a_changed_page
from tests.api.house import BASE_URL, House, ids
from tests.support.build import NOW, a_draft, a_source, a_source_id

GREEK = "Ωκεανός"
SHOWN = ("title", "placeholder", "aria-label", "alt", "data-is")
"""Attributes that a browser shows or a screen reader speaks."""
CODE = frozenset({"code", "pre", "kbd", "script", "style", "textarea", "datalist"})
NAMES = frozenset(
    re.findall(
        r"\w+",
        "Sanderling UTC HTTP HMAC SHA JSON CSV NDJSON OPML Atom RSS Feed CloudEvents KiB MiB GiB TiB ms test inbox "
        "English Svenska Marking Browser GET POST none instant Webhook Ed25519 simhash push feed html alerts admin",
    )
)
"""Names, units, scopes and channels, equal in all languages."""
EXAMPLES = frozenset(
    {
        "prices, topic:energy",
        "prices, topic:ai",
        "pricing, alerts",
        "main .prices",
        "newsroom",
        "price OR plan -careers",
        "weekdays 08-18 Europe/Stockholm",
        "#prices li",
        'tide OR "high water"',
        "{{ host }}: {{ title }}",
        "Cookie: session=…",
    }
)
"""Examples in form fields, equal in all languages."""
_NO_WORD = re.compile(r"\S*[./:@_=|…]\S*|\S*\d\S*|%\w+")
"""Addresses, ids, fields, numbers with their units."""
_WORD = re.compile(r"[A-Za-z]{2,}")


class Marking:
    """The made-up language: it translates the gathered texts only."""

    code, name = "xx", "Marking"
    form = staticmethod(NATIVE.form)

    def texts(self) -> Mapping[str, tuple[str, ...]]:
        return {text: tuple(f"⟦{one}⟧" for one in (said.text, said.many) if one) for text, said in gathered().items()}


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(languages(), "xx", Marking())  # type: ignore[arg-type]


def unsaid(page: HtmlElement) -> list[str]:
    """Return the English outside of the marks. A mark may open in one element and close in another."""
    found, depth = [], 0
    for element, text in _texts(page):
        rest, depth = _outside(text, depth)
        found += [f"<{element.tag}> {rest}"] if rest and not _is_data(element) else []
    for element in page.iter():
        for text in (element.get(name) for name in SHOWN if isinstance(element.tag, str) and not _is_data(element)):
            rest, _ = _outside(text or "", 0)
            found += [f"<{element.tag}> {rest}"] if rest and text not in EXAMPLES else []
    return found


def _texts(element: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Yield the texts of an element in reading order, each with its element."""
    yield element, element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            yield from _texts(child)
        yield element, child.tail or ""


def _is_data(element: HtmlElement) -> bool:
    """Return whether an element holds code, an event's text, or a part marked as not translated."""
    around = [element, *element.iterancestors()]
    return any(
        one.tag in CODE
        or one.get("translate") == "no"
        or (one.tag != "html" and one.get("lang"))
        or "content" in one.get("class", "").split()
        for one in around
    )


def _outside(text: str, depth: int) -> tuple[str, int]:
    """Return the text outside of the marks, if it has a word, and the depth of marks at its end."""
    kept = ""
    for sign in text:
        depth += (sign == "⟦") - (sign == "⟧")
        kept += sign if not depth and sign != "⟧" else ""
    words = [word for word in _WORD.findall(_NO_WORD.sub(" ", kept)) if word not in NAMES]
    return " ".join(kept.split()) if words else "", depth


async def furnished(house: House) -> str:
    """Store data for every page, in Greek if users or the web write it; return an event's id."""
    bad = Health(0.1, "rotten", "3 checks in a row have failed, for 2 h: answered 503", cause="reach")
    put(house, hot=replace(HOT, health=bad, last_error="answered 503"), title=GREEK, tags=(f"label:{GREEK}",))
    put(house, 2, hot=SourceRuntime(), title=GREEK)
    tagged = TagDefaults(f"label:{GREEK}", NOW, 900, "weekdays 08-18 UTC", 0.4, "main", (GREEK,), (HOOK,))
    await house.storage.tag_defaults.edit(tagged.tag, lambda _: tagged)
    third = a_source(3, type="html", tags=(tagged.tag,))
    inheriting = effective(third, {tagged.tag: tagged})
    house.registry.views[third.id] = SourceView(third, HOT, inheriting=inheriting)
    events = await house.publish(
        a_draft(GREEK, content=GREEK), replace(a_changed_page(GREEK), url="https://site1.test/")
    )
    await a_hook(house, label=GREEK, url=f"https://hooks.test/{GREEK}")
    await house.storage.alerts.put(Alert(ALERT, GREEK, GREEK, "en", (str(a_source_id(1)),), NOW, NOW, match="page"))
    line = an_attempt(ids(events)[0], "retry", error="no answer after 10 s", response_excerpt=GREEK)
    attempts(house, line, replace(line, attempt=2, status=None, error="the connection was reset"))
    return ids(events)[1]


PLACES = (
    *(re.sub(r"{\w+}", str(a_source_id(1)), one.path) for one in SCREENS if one.method == "GET" and not one.live),
    f"/sources/{a_source_id(3)}",
    f"/sources/{a_source_id(3)}/edit",
    f"/alerts/{ALERT}",
    f"/alerts/{ALERT}/edit",
    f"/destinations/{HOOK}",
    f"/destinations/{HOOK}/edit",
    f"/destinations/{HOOK}/deliveries",
    f"/destinations/{HOOK}/deliveries/1",
    f"/destinations/new?alert={ALERT}",
    f"/destinations/new?alert={ALERT}&kind=ntfy",
    f"/destinations/new?alert={ALERT}&kind=email",
    "/templates/gtm-competitor-watch",
    "/sources?q=nothing",
    f"/sources?tag={quote(GREEK)}",
    f"/sources/tags/defaults?tag={quote(GREEK)}",
    "/stream?keyword=nothing",
    "/stream?source=nothing",
)
FORMS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("/sources/add", "/sources/look", {"urls": "notaurl://x"}),
    ("/alerts/new", "/alerts/try", {"when": "query", "filter_query": "price OR"}),
    ("/alerts/new", "/alerts/new", {"when": "query", "filter_query": "(", "scope": "some"}),
    ("/keys/new", "/keys/new", {"name": GREEK, "rate": "much"}),
    ("/keys/new", "/keys/new", {"name": GREEK, "scopes": ["stream:read"], "present": "x"}),
    ("/settings", "/settings/password", {"present": "x", "password": "short", "again": "other"}),
    ("/settings", "/settings/wishes", {"zone": "Atlantis"}),
    (f"/destinations/{HOOK}/edit", f"/destinations/{HOOK}/edit", {"url": "http://10.0.0.1/"}),
    (f"/destinations/{HOOK}", f"/destinations/{HOOK}/delete", {"confirm": "no"}),
    ("/templates/gtm-competitor-watch", "/templates/gtm-competitor-watch/preview", {"params.domain": "not a domain"}),
    ("/templates/gtm-competitor-watch", "/templates/gtm-competitor-watch/preview", {"params.domain": "example.com"}),
    ("/webhook-bins", "/webhook-bins", {}),
    ("/publications/new", "/publications/new", {"title": GREEK}),
)


async def test_no_page_says_anything_that_no_other_language_can_say(
    house: House, browser: Browser, marked: None
) -> None:
    event = await furnished(house)
    browser.client.cookies.set("language", "xx")
    wrong: dict[str, list[str]] = {}
    for path in (*PLACES, f"/events/{event}", f"/events/{event}?show=text"):
        await browser.get(path)
        assert browser.answer.status_code in (200, 400, 404), (path, browser.text)
        if browser.answer.headers["Content-Type"].startswith("text/html"):
            wrong[path] = unsaid(browser.page)
    for path, action, fields in FORMS:
        await browser.get(path)
        await browser.post(action, fields)
        wrong[f"POST {action}"] = unsaid(browser.page)
    found = {path: texts for path, texts in wrong.items() if texts}
    assert not found, (
        f'{found}\nThis is English that no other language can say. In Python write say("..."), in a template '
        '{{ say("...") }} or {% trans %}; a sentence of another room wants a pattern (language/patterns.txt) and '
        "ui.said() or translated(). Then run `make languages`. See docs/languages.md."
    )


SCRIPTED = frozenset({"Because."})
"""Texts that only the fake house produces."""
NOTICES = (
    damage_notice("the database is damaged (bad page): stop the service and put a backup in its place", BASE_URL, NOW),
    replace(
        notice_draft(
            "source_moved",
            "https://site1.test/",
            f"A page now leads elsewhere: {GREEK}",
            f"The page now leads to a login, which is another page: {GREEK}",
            NOW,
        ),
        summary="→ a login",
    ),
    notice_draft(
        "source_failing",
        "https://site1.test/",
        f"A source is failing: {GREEK}",
        "The last check failed: answered 503",
        NOW,
    ),
)


async def test_a_swedish_reader_meets_no_english_sentence_of_ours(house: House, browser: Browser) -> None:
    event = await furnished(house)
    unread = replace(a_draft(GREEK, content=GREEK), unread="Its page could not be read: answered 503")
    told = ids(await house.publish(*NOTICES, unread))
    browser.client.cookies.set("language", "sv")
    wrong: dict[str, list[str]] = {}
    for path in (*PLACES, *(f"/events/{id}" for id in (event, *told))):
        await browser.get(path)
        if browser.answer.headers["Content-Type"].startswith("text/html"):
            english = [part.text_content() for part in browser.page.xpath("//body//*[@lang='en']")]
            wrong[path] = [text for text in english if text not in SCRIPTED and _outside(text, 0)[0]]
    assert not {path: texts for path, texts in wrong.items() if texts}
    for id, notice in zip(told, NOTICES, strict=False):
        await browser.get(f"/events/{id}")
        (article,) = browser.page.xpath("//article")
        assert notice.title not in article.text_content() and notice.content not in article.text_content()
        assert notice.title in browser.page.xpath("//pre")[0].text_content(), "what is signed stays as it is"
        await browser.get(f"/rows?ids={id}")
        assert notice.title not in browser.text and notice.content[:40] not in browser.text


async def test_the_way_in_speaks_as_the_browser_asks(house: House, stranger: Browser, marked: None) -> None:
    await stranger.get("/sign-in", **{"Accept-Language": "xx, en;q=0.5"})
    assert stranger.page.get("lang") == "xx" and not unsaid(stranger.page)
    await stranger.get("/set-up", **{"Accept-Language": "xx"})
    assert stranger.page.get("lang") == "xx" and not unsaid(stranger.page)


def test_english_outside_of_the_marks_is_found() -> None:
    from lxml import html

    page = html.fragment_fromstring(
        '<p title="A tip">⟦Paused ⟦now⟧.⟧ Left over <code>code</code> Ωκεανός <i lang="en">x y</i></p>'
    )
    assert unsaid(page) == ["<p> Left over", "<p> A tip"]
