"""Every page in its states: axe, weight, print, and screenshots."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from html import escape, unescape
from typing import Any

import pytest
from playwright.sync_api import Error, Route

from tests.api.browser import axe
from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.api.browser.world import World, furnish
from tests.rules.source_files import ROOT
from tests.support.waiting import wait_until

PICTURES = ROOT / "build/pictures"
EMPTY = (
    "/",
    "/first-steps",
    "/sources",
    "/alerts",
    "/destinations",
    "/destinations/new",
    "/publications",
    "/webhook-bins",
    "/stream",
)


def wrong_with(tab: Tab, pages: dict[str, str]) -> dict[str, list[str]]:
    found = {}
    for name, path in pages.items():
        tab.open(path)
        if wrong := axe.check(tab):
            found[name] = wrong
    return found


def test_axe_finds_nothing_on_the_pages_of_an_empty_service(new_tab: NewTab) -> None:
    assert wrong_with(new_tab(), {path: path for path in EMPTY}) == {}


def test_axe_finds_nothing_on_the_way_in(new_tab: NewTab, service: Service) -> None:
    new_tab()  # sets the password
    tab = new_tab(stranger=True)
    assert wrong_with(tab, {"sign in": "/sign-in", "set up": service.set_up_link(), "bad link": "/set-up#x"}) == {}
    tab.open("/sign-in").fill(password="something else").press("Sign in").sees("Wrong password.")
    assert axe.check(tab) == []


@pytest.fixture(scope="module")
def world(service: Service, origin: Origin) -> Iterator[World]:
    return furnish(service, origin)


def test_axe_finds_nothing_on_the_pages_of_a_busy_service(new_tab: NewTab, world: World) -> None:
    assert wrong_with(new_tab(), world.pages) == {}


def test_the_check_would_notice(tab: Tab) -> None:
    tab.open("/keys")
    tab.run("document.querySelector('h1').style.color = '#ccc'; document.querySelector('main').append(new Image())")
    tab.run("document.querySelector('main').style.minWidth = '400px'")
    wrong = "\n".join(axe.check(tab))
    assert "light 1280: color-contrast" in wrong and "image-alt" in wrong and "dark 360: 40" in wrong


def test_axe_finds_nothing_on_the_description_of_the_api(new_tab: NewTab) -> None:
    tab = new_tab(stranger=True).open("/docs")
    for alike, kept in (("article", 2), (".schema", 4), ("nav li", 12)):  # axe is slow, and the page long
        tab.run(f"[...document.querySelectorAll('{alike}')].slice({kept}).forEach(e => e.remove())")
    assert axe.check(tab) == []
    assert axe.check(tab.open("/problems/url-refused")) == []


def test_a_page_weighs_60_kb_at_most_its_sheet_26_and_its_module_40(tab: Tab, world: World) -> None:
    weights = {path: len(tab.context.request.get(world.service.url + path).body()) for path in world.pages.values()}
    assert {path: weight for path, weight in weights.items() if weight > 60_000} == {}
    assets = {url for url in tab.open("/").requests if "/assets/" in url}
    sizes = {url.rpartition("/")[2]: len(tab.context.request.get(url).body()) for url in assets}
    assert sizes["style.css"] < 26_000 and sizes["dashboard.js"] < 40_000, sizes


def test_a_page_is_painted_before_its_module_is_there(tab: Tab, world: World) -> None:
    held: list[Route] = []

    def keep(route: Route) -> None:  # the driver sets an attribute on its callback, and bound methods allow none
        held.append(route)

    tab.page.route("**/dashboard.js", keep)
    tab.page.goto(world.service.url + "/sources", wait_until="commit")
    tab.page.get_by_text("Day tickets of the ferry").first.wait_for()
    painted = "new PerformanceObserver(p => r(p.getEntries().length)).observe({type: 'paint', buffered: true})"
    assert tab.run(f"new Promise(r => {painted})") > 0
    assert len(held) == 1
    held[0].continue_()
    tab.page.wait_for_load_state("load")


def test_printing_an_event_leaves_out_screen_controls(tab: Tab, world: World) -> None:
    tab.open(world.pages["event, changed"]).page.emulate_media(media="print", color_scheme="dark")
    assert tab.page.locator(".side, .skip, button").evaluate_all("all => all.every(e => !e.checkVisibility())")
    assert tab.sees("Verified").is_visible() and tab.page.locator(".diff").is_visible()
    assert tab.run("getComputedStyle(document.body).color + getComputedStyle(document.body).backgroundColor") == (
        "rgb(0, 0, 0)rgb(255, 255, 255)"
    )
    assert tab.page.pdf().count(b"/Type /Page\n") in (1, 2)


WIDER = "[...document.querySelectorAll('main, dd, article > p')].filter(e => e.scrollWidth > e.clientWidth + 1).length"


def test_dates_that_are_proofs_stay_in_their_place_in_zones_with_long_names(new_tab: NewTab, world: World) -> None:
    """A long zone name did not wrap and covered its neighbour; all other tests use UTC, which is short."""
    for width in (1280, 360):
        tab = new_tab(timezone_id="America/Argentina/Buenos_Aires", viewport={"width": width, "height": 740})
        tab.open("/")  # sets the zone for later pages
        for page in ("event, changed", "event of a feed", "source, versions compared"):
            tab.open(world.pages[page])
            assert "Buenos_Aires" in tab.text
            assert tab.run(WIDER) == 0, (page, width)


SEEN = ("today", "source, changed", "alert, edited", "event, changed", "system")


def test_pictures_of_the_main_pages_are_taken(new_tab: NewTab, world: World) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for width, height, name in ((1280, 800, "desktop"), (360, 740, "phone")):
            tab = new_tab(color_scheme=scheme, viewport={"width": width, "height": height})
            for page in SEEN:
                tab.open(world.pages[page].partition("?")[0])
                if page == "alert, edited":
                    tab.sees("The newest of them")
                path = PICTURES / f"{page.replace(', ', '-')}-{scheme}-{name}.webp"
                path.write_bytes(picture(tab, whole=name == "phone"))
                assert path.stat().st_size > 5_000


def test_pictures_of_a_pasted_link_and_of_its_messages_are_taken(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    """A price is pasted, watched and changed; three chats get the news, drawn from the requests."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    kettle = "A hand-made kettle with a beech handle. It whistles a low note, and pours without a drip."
    page = origin.page("/kettle", "Copper kettle 1.7 l", [kettle, "Price: £349.00"])
    tab = new_tab().open("/").fill(urls=page).press("Watch")
    tab.sees("£349")
    tab.fill(than="300").page.locator("[name=deliver]").select_option("slack")
    (PICTURES / "start.webp").write_bytes(picture(tab, whole=False))
    chats = ("slack", "discord", "teams")
    for chat in chats:
        origin.says[f"/{chat}"] = Answer("ok")
    tab.fill(url=f"{origin.url}/slack").press("Start").sees("Its matches go to")
    alert = next(one for one in service.ask("GET", "/v1/alerts") if one["filter_query"] == "price<300")
    for chat in chats[1:]:
        path = f"/v1/alerts/{alert['id']}/destinations"
        service.ask("POST", path, {"kind": chat, "url": f"{origin.url}/{chat}"})
    origin.page("/kettle", "Copper kettle 1.7 l", [kettle, "Price: £289.00"])
    service.look(alert["source_ids"][0])
    wait_until(lambda: {path.partition("?")[0] for path, _ in origin.taken} >= {f"/{chat}" for chat in chats})
    sent = {path.partition("?")[0][1:]: json.loads(body) for path, body in origin.taken if path[1:6] in CARDS}
    shown = new_tab(viewport={"width": 860, "height": 400})
    shown.page.set_content(cards(sent).replace(service.url, "https://watch.example"))
    (PICTURES / "cards.webp").write_bytes(picture(shown, whole=True))


CARDS = ("slack", "disco", "teams")
CARD = (
    "<style>body{{font:15px/1.5 system-ui;margin:1.5rem;color:#222}}section{{border:1px solid #ddd;border-radius:8px;"
    "padding:.75rem 1rem;margin:0 0 1rem;white-space:pre-line}}h2{{font-size:13px;color:#666;margin:0 0 .25rem}}"
    "b{{display:block}}</style>{}"
)


def cards(sent: dict[str, Any]) -> str:
    """Return the messages as a page: title and text as each service gets them, without the syntax of links."""
    slack, discord, teams = (sent[name] for name in ("slack", "discord", "teams"))
    body = teams["attachments"][0]["content"]["body"]
    texts = {
        "Slack": (slack["text"], slack["blocks"][1]["text"]["text"]),
        "Discord": (discord["embeds"][0]["title"], discord["embeds"][0]["description"]),
        "Microsoft Teams": (body[0]["inlines"][0]["text"], body[1]["inlines"][0]["text"]),
    }
    parts = []
    for name, (title, text) in texts.items():
        plain = re.sub(r"<(http[^|>]*)\|([^>]*)>|\[([^]]*)\]\([^)]*\)", lambda it: it[2] or it[3], text)
        parts.append(f"<h2>{name}</h2><section><b>{escape(title)}</b>{escape(unescape(plain))}</section>")
    return CARD.format("".join(parts))


TRIES = 5
NO_FRAME = "Unable to capture screenshot"
FRAMES = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))"


def picture(tab: Tab, *, whole: bool) -> bytes:
    """Return the page as WebP, which Playwright does not offer. whole: the full page, not only the first screen.

    On a busy machine the browser may have no frame to copy yet and fail; the next try gets one.
    """
    tab.page.bring_to_front()
    with tab.debugging() as send:
        shot = {"format": "webp", "quality": 85, "captureBeyondViewport": whole}
        if whole:
            size = send("Page.getLayoutMetrics")["cssContentSize"]
            shot["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8_000), "scale": 1}
        for _ in range(TRIES):
            assert tab.run(FRAMES)
            try:
                return b64decode(send("Page.captureScreenshot", shot)["data"])
            except Error as error:
                if NO_FRAME not in error.message:
                    raise
        raise AssertionError(f"the browser had no frame in {TRIES} tries")


def test_a_publication_is_centred_in_a_readable_width(tab: Tab, world: World) -> None:
    """The grid put it into the navigation's column, which strangers do not have."""
    for name in ("published", "published, event"):
        tab.open(world.pages[name])
        box = tab.page.locator("main").bounding_box()
        assert box is not None and 600 < box["width"] < 800 and abs(box["x"] * 2 + box["width"] - 1280) < 20, name
