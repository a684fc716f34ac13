"""The pages for people: the reference and the problem pages, as served."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from api.problems import KINDS
from extras.reference.page import reference
from tests.api.house import House

PAGES = ["/docs", *(f"/problems/{slug}" for slug in KINDS)]
VOID = {"meta", "link"}


class Outline(HTMLParser):
    """The parts of an accessibility tree: elements by name, headings in order, anchors, references."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.levels: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_plain_html_without_external_resources(house: House, path: str) -> None:
    """No script, no inline code, no foreign address, only our own stylesheet: the strictest policy allows it."""
    async with house.stranger() as client:
        answer = await client.get(path)
        style = await client.get("/docs/style.css")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    page = Outline(answer.text)
    assert not {"script", "style", "iframe", "object", "img", "form", "base"} & set(page.names)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert [link for link in page.links if not re.match(r"[#/](?!/)", link)] == []
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert "url(" not in style.text and "@import" not in style.text


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_has_landmarks_headings_in_order_and_a_language(house: House, path: str) -> None:
    async with house.stranger() as client:
        text = (await client.get(path)).text
    page = Outline(text)
    assert page.names.count("main") == page.names.count("h1") == page.names.count("title") == 1
    assert {"header", "nav", "main"} <= set(page.names)
    assert ("lang", "en") in page.attributes and ("name", "viewport") in page.attributes
    assert all(deeper <= above + 1 for above, deeper in zip(page.levels, page.levels[1:], strict=False) if above)
    assert len(set(page.ids)) == len(page.ids)
    named = [value for name, value in page.attributes if name == "aria-labelledby"]
    assert {link[1:] for link in page.links if link.startswith("#")} | set(named) <= set(page.ids)


async def test_every_link_of_the_reference_leads_somewhere(house: House) -> None:
    async with house.stranger() as client:
        page = Outline((await client.get("/docs")).text)
        for path in {link for link in page.links if link.startswith("/")}:
            assert (await client.get(path)).status_code == 200, path


async def test_the_reference_has_an_anchor_and_a_command_for_every_operation(house: House) -> None:
    async with house.stranger() as client:
        text = (await client.get("/docs")).text
        description = (await client.get("/openapi.json")).json()
    page = Outline(text)
    names = {operation["operationId"] for methods in description["paths"].values() for operation in methods.values()}
    assert names <= set(page.ids)
    assert text.count("<code>curl ") == len(names)
    assert set(description["components"]["schemas"]) <= {id.removeprefix("schema-") for id in page.ids}


async def test_no_text_of_the_description_becomes_markup(house: House) -> None:
    def spoiled(value: Any) -> Any:
        if isinstance(value, list):
            return [spoiled(one) for one in value]
        if isinstance(value, dict):
            return {
                name: f"<script>{one}" if name in ("summary", "description", "title") and isinstance(one, str) else one
                for name, one in ((name, spoiled(one)) for name, one in value.items())
            }
        return value

    async with house.stranger() as client:
        page = reference(spoiled((await client.get("/openapi.json")).json()), "/docs/style.css").decode()
    assert page.count("&lt;script&gt;") > 1_000 and "script" not in Outline(page).names


async def test_a_problem_page_explains_and_shows_one(house: House) -> None:
    async with house.stranger() as client:
        for slug, kind in KINDS.items():
            page = (await client.get(f"/problems/{slug}")).text
            assert kind.title in page and f"&quot;status&quot;: {kind.status}" in page.replace('"', "&quot;")
        assert (await client.get("/problems/nothing")).status_code == 404


def test_the_colours_of_the_pages_can_be_read() -> None:
    """A contrast of 4.5:1 (WCAG AA) in both colour schemes."""
    from importlib.resources import files

    style = files("extras.reference").joinpath("style.css").read_text("utf-8")
    colours = {name: pair for name, *pair in re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", style)}
    for scheme in (0, 1):
        for ground in ("ground", "sunk"):
            for ink in ("ink", "soft", "link", "write", "gone"):
                assert _contrast(colours[ink][scheme], colours[ground][scheme]) >= 4.5, (ink, ground, scheme)


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
