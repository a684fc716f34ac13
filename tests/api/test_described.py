"""The service's description of itself, as served: the documents, the schemas, the pages for people."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import openapi_spec_validator
import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct
from msgspec.structs import fields

from actors.delivery import digest
from api.docs.page import reference
from api.nouns.deliveries import Digest
from api.openapi.document import KINDS_SENT
from api.openapi.nouns import ROUTES
from api.openapi.schemas import published
from api.problems import KINDS
from storage.records import event
from tests.api.house import House
from tests.api.walk import all_routes

SCHEMAS = published(ROUTES, KINDS_SENT)
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


async def test_the_description_is_valid_and_names_every_route(house: House) -> None:
    async with house.stranger() as client:
        answer = await client.get("/openapi.json")
    openapi_spec_validator.validate(answer.json())
    described = {(method.upper(), path) for path, methods in answer.json()["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in all_routes()}
    assert answer.json()["servers"][0]["url"] == "http://sanderling.test"
    assert answer.headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize("scope", ["sources:read", "stream:read"])
async def test_the_description_says_which_scope_a_route_needs(house: House, scope: str) -> None:
    async with house.stranger() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    path = {"sources:read": "/v1/sources", "stream:read": "/v1/events"}[scope]
    assert f"Scope: `{scope}`." in paths[path]["get"]["description"]
    assert paths[path]["get"]["security"] == [{"bearer": [scope]}, {"header": [scope]}]
    assert paths["/healthz"]["get"]["security"] == []
    channel = paths["/v1/streams/{channel}"]["get"]["security"]
    assert {"bearer": ["stream:read:{channel}"]} in channel and {"bearer": ["stream:read"]} in channel


async def test_every_schema_url_serves_a_valid_schema(house: House) -> None:
    assert {"stream-event", "problem", "source", "alert", "destination", "delivery", "digest"} <= set(SCHEMAS)
    async with house.stranger() as client:
        for name in SCHEMAS:
            answer = await client.get(f"/schemas/{name}/1.json")
            assert answer.headers["content-type"] == "application/schema+json"
            schema = answer.json()
            Draft202012Validator.check_schema(schema)
            assert schema["$id"] == f"http://sanderling.test/schemas/{name}/1.json"
            used = set(re.findall(r'"#/\$defs/(\w+)"', answer.text))
            assert used == set(schema.get("$defs", ())), "it stands alone, with nothing in it that nobody asks for"
        assert (await client.get("/schemas/nothing/1.json")).status_code == 404
        assert (await client.get("/schemas/problem/2.json")).status_code == 404


async def test_the_schema_of_events_has_the_version_of_each_field(house: House) -> None:
    async with house.stranger() as client:
        schema = (await client.get("/schemas/stream-event/1.json")).json()
        assert schema["x-version"] == "1.5"
        assert schema["properties"]["summary"]["maxLength"] == event.MOST_SUMMARY
        assert schema["properties"]["changes"]["maxItems"] == event.MOST_CHANGES
        value, context = schema["$defs"]["Value"]["properties"], schema["$defs"]["Context"]["properties"]
        assert value["text"]["maxLength"] == event.MOST_VALUE_TEXT and value["scale"]["maximum"] == event.MOST_SCALE
        assert value["number"]["maximum"] == event.LARGEST and context["row"]["maxLength"] == event.MOST_CONTEXT
        assert not {"summary", "diff", "delta", "unread", "heartbeat", "story"} & set(schema["required"]), (
            "earlier ones have none"
        )
        assert "x-version" not in (await client.get("/schemas/problem/1.json")).json()


async def test_the_schemas_at_their_urls_are_those_of_the_description(house: House) -> None:
    async with house.stranger() as client:
        components = (await client.get("/openapi.json")).json()["components"]["schemas"]
        for name in SCHEMAS:
            text = (await client.get(f"/schemas/{name}/1.json")).text.replace("#/$defs/", "#/components/schemas/")
            served = json.loads(text)
            for part, schema in {SCHEMAS[name].__name__: served, **served.get("$defs", {})}.items():
                assert _plain(schema) == _plain(components[part]), (name, part)


def _plain(schema: Any) -> Any:
    """Return a schema without the parts that only one of the two documents has: examples, addresses and defaults."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    said = re.sub(r"(^|\. )Default: .*", "", str(schema.get("description", "")))
    kept = {name: _plain(value) for name, value in schema.items() if name not in BESIDE}
    return kept | ({"description": said} if isinstance(schema.get("description"), str) and said else {})


BESIDE = {"$schema", "$id", "$defs", "examples", "default", "description"}
"""`description` may also be a property, so it is compared separately."""


def test_two_types_of_one_name_are_refused() -> None:
    class Digest(Struct):
        """Another one."""

    with pytest.raises(ValueError, match="rename"):
        published(ROUTES, (*KINDS_SENT, Digest))


def test_the_digest_that_is_described_is_the_one_that_is_sent() -> None:
    assert [field.encode_name for field in fields(Digest)] == [field.encode_name for field in fields(digest.Digest)]


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

    style = files("api.docs").joinpath("style.css").read_text("utf-8")
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
