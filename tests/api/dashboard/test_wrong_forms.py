"""Wrong input in every form: an error at the field, the typed values kept, and no 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
import trio

from api.app import SCREENS
from api.dashboard.forms import Form
from api.dashboard.screen import Go, Screen, Visit
from storage.records.access import Password
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.rows import ALERT, HOOK
from tests.api.dashboard.test_languages import furnished
from tests.api.house import House
from tests.support.build import NOW, a_source_id
from tests.support.disks import set_password

CHANGES = [screen for screen in SCREENS if screen.method == "POST" and screen.path != "/sign-out"]
STRANGE = ("\x00\ufffd <b>%00", "x" * 2_500, "9" * 40)
NOWHERE = (str(a_source_id(77)), "rubbish", "%00")


def forms(screen: Screen) -> Iterator[dict[str, Any]]:
    """Yield the form empty, with an unknown field, with rubbish in every field, and with every field twice."""
    assert screen.form is not None
    names = [one.encode_name for one in msgspec.structs.fields(screen.form)]
    yield {}
    yield {"nobody_knows_it": "x"}
    for text in STRANGE:
        yield dict.fromkeys(names, text)
    yield {name: ["x", "y"] for name in names}


async def there(browser: Browser) -> dict[str, str]:
    """Create a record for each section; return the ids for its paths."""
    await browser.post("/webhook-bins", {})
    bin_id = browser.path.split("/")[2]
    await browser.post("/publications/new", {"title": "News", "tags": "news"})
    publication = browser.path.split("/")[2]
    return {
        "sources": str(a_source_id(1)),
        "alerts": ALERT,
        "destinations": HOOK,
        "templates": "gtm-competitor-watch",
        "webhook-bins": bin_id,
        "publications": publication,
    }


def asked_for(screen: Screen, known: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield paths with forms: all forms if the section has a record, else an empty one."""
    start, brace, end = screen.path.partition("{")
    if not brace:
        yield from ((screen.path, form) for form in forms(screen))
        return
    end = end.partition("}")[2].replace("{secret}", "x")
    if known.get(screen.section):
        yield from ((f"{start}{known[screen.section]}{end}", form) for form in forms(screen))
    yield from ((f"{start}{id}{end}", {}) for id in NOWHERE)


def told(browser: Browser, answer: httpx.Response) -> str:
    """Return the fault of an answer to a wrong form, or ""."""
    if answer.status_code == 303:
        return ""
    if answer.status_code >= 500 and answer.status_code != 503:
        return f"{answer.status_code}"
    if answer.status_code != 422:
        return "" if browser.page.xpath("//h1") else "a page without words"
    for link in browser.page.xpath("//*[@id='faults']//a/@href"):
        name = link.removeprefix("#f-")
        fields = browser.page.xpath(f"//*[@id='f-{name}']")
        if len(fields) != 1 or not browser.page.xpath(f"//*[@id='e-{name}']"):
            return f"{name} has no words beside it"
    return "" if browser.page.xpath("//*[@role='alert'] | //main//p") else "nothing is said"


async def test_no_invalid_form_is_a_500_and_each_error_appears_next_to_its_field(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    await furnished(house)
    token = browser.token
    known = await there(browser)
    wrong: list[tuple[str, str, str]] = []
    sent = 0
    for screen in CHANGES:
        for path, form in asked_for(screen, known):
            await trio.sleep(0.1)  # a token of the bucket
            answer = await browser.post(path, form, token=token, follow=False)
            sent += 1
            wrong += [(screen.label, str(form)[:60], fault) for fault in [told(browser, answer)] if fault]
    assert not wrong and sent > 250


async def test_the_sign_in_forms_answer_an_unauthenticated_client_likewise(
    house: House, stranger: Browser, autojump_clock: object
) -> None:
    set_password(house.storage.disk, Password("hash of it", NOW))
    wrong: list[tuple[str, str, str]] = []
    for screen in CHANGES:
        for form in forms(screen) if screen.access == "anyone" else ():
            await trio.sleep(5)
            await stranger.get(screen.path)
            await stranger.post(screen.path, form, token=stranger.token or None, follow=False)
            wrong += [(screen.label, str(form)[:60], fault) for fault in [told(stranger, stranger.answer)] if fault]
            assert stranger.answer.status_code != 303
    assert not wrong


async def test_ticks_and_input_for_many_sources_return_to_their_page(house: House, browser: Browser) -> None:
    await furnished(house)
    one = str(a_source_id(1))
    fields = {"source": one, "act": "schedule", "schedule": "soon", "back": "/sources?q=site1&size=60"}
    await browser.post("/sources/many", fields)
    assert browser.answer.status_code == 422 and "Type an interval such as 10m" in browser.text
    (typed,) = browser.page.xpath("//input[@id='f-schedule']")
    assert typed.get("value") == "soon" and typed.get("aria-describedby") == "e-schedule"
    assert browser.page.xpath("//input[@name='source' and @checked]/@value") == [one]
    assert browser.page.xpath("//input[@name='q']/@value") == ["site1"]
    assert browser.page.xpath("//input[@name='back']/@value") == ["/sources?q=site1&size=60"]


async def test_a_button_with_an_invalid_form_gets_an_error_page(browser: Browser) -> None:
    answer = await browser.post("/sign-out", {"more": "x"}, follow=False)
    assert answer.status_code == 422 and "The form has no field 'more'" in browser.text


async def test_a_view_that_is_not_saved_leads_back_to_its_filters(browser: Browser) -> None:
    await browser.post("/views", {"place": "stream", "query": "tag=a", "name": "x", "more": "y"})
    assert browser.path == "/stream?tag=a" and "Nothing was saved: The form has no field 'more'." in browser.text


def test_a_form_with_fields_cannot_be_without_a_page_to_stand_on() -> None:
    class Named(Form, frozen=True):
        name: str

    async def run(visit: Visit) -> Go:
        return Go("/")

    with pytest.raises(ValueError, match="stands again"):
        Screen(method="POST", path="/x", run=run, form=Named)
    Screen(method="POST", path="/x", run=run, form=Form)
