"""Every tool with every consent: a tool gets exactly the consented scopes. Generated from both tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from api.keys import SCOPES
from extras.agents.tools import TOOLS
from extras.people.oauth.tokens import TOOLS as TOOL_SCOPES
from storage.records.access import Role, allowed
from tests.api.dashboard.rows import ALERT, a_hook
from tests.api.house import House
from tests.api.walk import all_routes
from tests.extras.people.oauth.app import App, person

READ = "stream:read"
ROLES: tuple[Role, ...] = ("reader", "editor")


def consents() -> Iterator[tuple[str, ...]]:
    """Return every scope with the one that all tools need, all scopes of the tools, and all of those but one."""
    yield (READ,)
    yield from ((READ, scope) for scope in SCOPES if scope != READ)
    yield TOOL_SCOPES
    yield from (tuple(one for one in TOOL_SCOPES if one != less) for less in TOOL_SCOPES if less != READ)


class MadeCall(NamedTuple):
    """An answered call of a key. route: its path."""

    method: str
    route: str
    status: int


def calls_in(house: House) -> Sequence[MadeCall]:
    """Return the logged calls of keys, without those of `/mcp` itself."""
    logged = [fields for event, fields in house.logs if event == "http.request" and fields["path"] != "/mcp"]
    return [MadeCall(each["method"], route_of(each["method"], each["path"]), each["status"]) for each in logged]


PARAMETER = re.compile(r"\{(?!path|tag)\w+\}")


@cache
def patterns(method: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the path of each route and a pattern of it, those without parameters first."""
    paths = sorted((route.path for route in all_routes() if route.method == method), key=lambda one: "{" in one)
    return [(one, re.compile(re.sub(r"\{path\}|\{tag\}", ".+", PARAMETER.sub("[^/]+", one)))) for one in paths]


@cache
def route_of(method: str, path: str) -> str:
    return next(one for one, pattern in patterns(method) if pattern.fullmatch(path))


NEEDS = {(route.method, route.path): set(route.scopes) for route in all_routes()}


async def used(house: House, app: App, tool: str) -> Sequence[MadeCall]:
    """Use a tool as its example shows, with the records that the example names; return the calls that it made."""
    arguments = dict(next(one.example for one in TOOLS if one.name == tool))
    if "url" not in arguments:
        await (await house.client()).post("/v1/sources", json={"url": "https://shop.example/kettle", "title": "Kettle"})
    if isinstance(arguments.get("source"), str):
        arguments["source"] = "Kettle"
    await a_hook(house, awake=False, label="Slack")
    arguments |= {"alert": ALERT} if "alert" in arguments else {}
    house.logs.clear()
    answer = await app.tool(tool, **arguments)
    assert answer.status_code == 200, answer.text
    return calls_in(house)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("consent", tuple(consents()), ids="+".join)
async def test_a_tool_gets_what_the_person_consented_to_and_the_role_has(
    house: House, consent: tuple[str, ...], role: Role
) -> None:
    app = App(house)
    await app.connect(await person(house, "anna", role), " ".join(consent), *consent)
    held = set(allowed(consent, role))
    assert set(app.tokens["scope"].split()) == held
    for tool in TOOLS:
        made = await used(house, app, tool.name)
        assert made, tool.name
        for call in made:
            needs = NEEDS[call.method, call.route]
            assert (call.status != 403) == (needs <= held), (tool.name, call, needs, held)
            assert call.status != 401, (tool.name, call)


async def test_with_every_scope_each_tool_does_what_it_is_for(house: House) -> None:
    """The proof above would hold if no tool did anything."""
    app = App(house)
    await app.connect(await person(house, "anna"), " ".join(TOOL_SCOPES))
    for tool in TOOLS:
        made = await used(house, app, tool.name)
        assert any(call.method != "GET" for call in made) == (tool.looks or tool.ends or tool.name == "try_alert"), tool
