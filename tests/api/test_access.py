"""Every route, method and kind of key, generated from the application's routes (X15, X16)."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterable
from itertools import product
from typing import Any, TypeVar

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.nouns.service import LOOK_KEYS, SECURITY_TXT
from api.route import PUBLIC, SCOPES, Answer, Call, Route
from sanderling.logs import make_log
from storage.errors import Unavailable
from storage.records.access import ApiKey
from storage.records.alert import Alert
from tests.api.house import House
from tests.api.listening import listening
from tests.api.walk import (
    CHANNEL,
    CLOSED,
    GIVES,
    OPEN,
    STREAMS,
    all_routes,
    assert_problem,
    call,
    may,
    method_of,
    own_scopes,
    path_of,
    scope_sets,
    the_app,
)
from tests.support.build import NOW

T = TypeVar("T")
in_share = pytest.mark.parametrize("share", [pytest.param(0.15, id="share"), pytest.param(1.0, id="all")])
"""`make test` walks a share of the pairs, `make test-long` all."""


def some(pairs: Iterable[T], share: float) -> list[T]:
    """Return a random share, in the same order."""
    every = list(pairs)
    return [every[at] for at in sorted(random.Random(1).sample(range(len(every)), round(share * len(every))))]


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "BREW")


@in_share
async def test_x15_without_a_valid_key_nothing_opens(house: House, subtests: pytest.Subtests, share: float) -> None:
    """No key, in the query, malformed, unknown, with the wrong scheme, or two that differ: 401."""
    key, other = await house.key(), await house.key()
    bad: tuple[dict[str, Any], ...] = (
        {},
        {"params": {"api_key": key}},
        {"params": {"access_token": key}},
        {"headers": {"Authorization": "Bearer nonsense"}},
        {"headers": {"Authorization": "Bearer socket"}},  # the log's name for the admin socket's owner
        {"headers": {"Authorization": f"Bearer svc_{'x' * 43}"}},
        {"headers": {"Authorization": f"Bearer {key}x"}},
        {"headers": {"Authorization": f"Basic {key}"}},
        {"headers": {"X-API-Key": ""}},
        {"headers": {"X-API-Key": other, "Authorization": f"Bearer {key}"}},
    )
    async with house.stranger() as stranger:
        for route, more in some(product(CLOSED, bad), share):
            await trio.sleep(600)  # or the address limit would refuse the later routes
            with subtests.test(route.label):
                answer = await call(stranger, route, **more)
                assert_problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_x15_a_deleted_key_is_refused_on_the_very_next_request(house: House, subtests: pytest.Subtests) -> None:
    for route in CLOSED:
        await trio.sleep(60)  # or the address limit would refuse the later routes
        with subtests.test(route.label):
            key = await house.key(*SCOPES)
            async with house.stranger(Authorization=f"Bearer {key}") as client:
                assert (await call(client, route)).status_code not in (401, 403)
                await house.revoke(key)
                assert_problem(await call(client, route), 401, "unauthorized")


async def begun_session(house: House, key: str) -> dict[str, str]:
    """Return the header of an agent's session."""
    async with house.stranger(Authorization=f"Bearer {key}") as client:
        begun = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    return {"Mcp_Session_Id": begun.headers["Mcp-Session-Id"]}


async def test_x15_a_deleted_key_ends_its_open_streams_within_a_second(
    house: House, subtests: pytest.Subtests, autojump_clock: object
) -> None:
    for route in STREAMS:
        with subtests.test(route.label):
            key = await house.key(*SCOPES)
            begun = await begun_session(house, key) if route.path == "/mcp" else {}
            async with listening(house, path_of(route), key=key, **begun) as stream:
                assert stream.status == 200
                await house.revoke(key)
                with trio.fail_after(1):
                    while await stream.chunk():
                        pass
                assert stream.ended


@in_share
async def test_x16_a_route_opens_for_the_scopes_it_declares_and_for_no_other(
    house: House, subtests: pytest.Subtests, share: float
) -> None:
    sets = [(name, scopes, await house.client(*scopes)) for name, scopes in scope_sets().items()]
    own = [(route, ("its own", own_scopes(route), await house.client(*own_scopes(route)))) for route in CLOSED]
    for route, (name, scopes, client) in [*own, *some(product(CLOSED, sets), share)]:
        with subtests.test(route.label, scopes=name):
            answer = await call(client, route)
            assert (answer.status_code == 403) is not (
                may(route, scopes) and set(GIVES.get(route.label, ())) <= {*scopes}
            )
            assert answer.status_code != 401
            if answer.status_code == 403:
                assert_problem(answer, 403, "forbidden")


async def test_x16_a_refusal_names_the_scope_that_is_missing(house: House, subtests: pytest.Subtests) -> None:
    for route in CLOSED:
        with subtests.test(route.label):
            for missing in route.scopes:
                async with await house.client(*sorted(SCOPES - {PUBLIC, missing})) as client:
                    answer = await call(client, route)
                    assert_problem(answer, 403, "forbidden")
                    assert not answer.text or f"the scope {missing}." in answer.json()["detail"]


async def test_either_header_carries_the_key(house: House, subtests: pytest.Subtests) -> None:
    for route in CLOSED:
        with subtests.test(route.label):
            key = await house.key(*own_scopes(route))
            for headers in (
                {"Authorization": f"Bearer {key}"},
                {"X-API-Key": key},
                {"Authorization": f"bearer  {key}"},
            ):
                async with house.stranger(**headers) as client:
                    assert (await call(client, route)).status_code not in (401, 403)


async def test_head_is_get_without_a_body(house: House, subtests: pytest.Subtests) -> None:
    async with house.stranger() as stranger, await house.client(*SCOPES) as client:
        for route in [route for route in CLOSED if route.method == "GET"]:
            with subtests.test(route.label):
                assert (await stranger.head(path_of(route))).status_code == 401
                answer = await client.head(path_of(route))
                assert answer.status_code not in (401, 403, 405) and not answer.content
                assert "ratelimit-limit" in answer.headers


async def test_x16_a_channels_key_reads_its_channel_and_no_other(house: House) -> None:
    others = ("html", "html/", "pricing2", "Pricing", "pricing%00", "pricing%2F..%2Fhtml", "pricing/../html")
    alert = Alert("1", "prices", "price", "en", (), NOW, NOW, channel="pricing")
    await house.storage.alerts.put(alert)
    async with await house.client("stream:read:pricing") as client:
        assert (await client.head("/v1/streams/pricing")).status_code == 200
        paths = [f"/v1/streams/{path}" for path in (*others, "pricing%3Ahtml", "")]
        for other in (*paths, "/v1/stream", "/v1/events"):
            request = httpx.Request("HEAD", "http://sanderling.test/", headers=client.headers)
            request.url = httpx.URL("http://sanderling.test").copy_with(raw_path=other.encode())
            assert (await client.send(request)).status_code in (403, 404), other


@given(st.sets(st.sampled_from([*sorted(SCOPES), "stream:read:html", "x"])))
def test_x16_more_scopes_never_take_access_away(scopes: set[str]) -> None:
    for route in CLOSED:
        key = ApiKey("k", "k", "svc_k", "0" * 64, tuple(scopes), NOW)
        more = replace(key, scopes=(*scopes, *sorted(SCOPES)))
        parameters = dict.fromkeys(("id", "channel"), CHANNEL)
        assert route.granted_to(key, parameters) is may(route, tuple(scopes))
        assert route.granted_to(more, parameters)


NOT_SET = {LOOK_KEYS: 404, SECURITY_TXT: 404}
"""These routes exist only once they are set up."""


async def test_open_routes_need_no_key_but_refuse_a_bad_one(house: House, subtests: pytest.Subtests) -> None:
    async with house.stranger() as stranger:
        for route in OPEN:
            with subtests.test(route.label):
                assert (await call(stranger, route)).status_code == NOT_SET.get(route.path, 200)
                bad = await call(stranger, route, headers={"X-API-Key": "nonsense"})
                assert_problem(bad, 401, "unauthorized")


@in_share
async def test_every_other_method_is_405_with_allow(house: House, share: float) -> None:
    by_path: dict[str, set[str]] = {}
    for route in all_routes():
        by_path.setdefault(path_of(route), set()).update({route.method, *(["HEAD"] if route.method == "GET" else [])})
    async with await house.client() as client, house.stranger(**{"X-API-Key": await house.key("")}) as stranger:
        for (path, allowed), method, asking in some(product(by_path.items(), METHODS, (client, stranger)), share):
            if method not in allowed:
                answer = await asking.request(method, path)
                assert_problem(answer, 405, "method-not-allowed")
                assert set(answer.headers["allow"].split(", ")) == allowed, (method, path)


async def test_an_unknown_path_is_a_404_problem(house: House, subtests: pytest.Subtests) -> None:
    nothing = ("/v1/nothing", "/static/x", "/%00", "/v1/sources/x/y", "/v1%2Fsources")
    async with await house.client() as client:
        for path in ("/v1", "/v1/", "/v1/sources/", *nothing):
            with subtests.test(path):
                assert_problem(await client.get(f"http://sanderling.test{path}"), 404, "not-found")


async def test_a_request_id_comes_back_and_is_in_the_log(house: House) -> None:
    async with await house.client() as client:
        minted = (await client.get("/v1/sources")).headers["x-request-id"]
        given = (await client.get("/v1/sources", headers={"X-Request-Id": "mine-1"})).headers["x-request-id"]
        forged = (await client.get("/v1/sources", headers={"X-Request-Id": "a b"})).headers["x-request-id"]
    assert given == "mine-1" and forged != "a b"
    logged = [fields["request_id"] for event, fields in house.logs if event == "http.request"]
    assert logged == [minted, given, forged]


async def test_x15_no_log_line_holds_a_key_sent_in_any_place(house: House) -> None:
    key, stream = await house.key(*SCOPES), io.StringIO()
    async with house.stranger(Authorization=f"Bearer {key}") as client:
        for route in all_routes():
            await call(client, route)
            await call(client, route, params={"api_key": key})
            await call(client, route, headers={"X-Request-Id": key, "User-Agent": key, "Last-Event-ID": key})
            await client.request(method_of(route), path_of(route, key), json={"url": f"https://a.test/{key}", key: key})
    log = make_log(stream, lambda: 0.0, level="debug", words=False, colour=False)
    for event, fields in house.logs:
        log(event, **fields)
    written = stream.getvalue()
    assert written.count("\n") > 3 * len(all_routes()) and key[:12] in written
    assert key not in written and key[4:] not in written


async def test_x5_no_parameter_reaches_a_header_with_a_line_end(house: House, subtests: pytest.Subtests) -> None:
    evil = "%0d%0aX-Evil:%201%00%1b[31m"
    async with await house.client(*SCOPES) as client:
        for route in all_routes():
            with subtests.test(route.label):
                path = re.sub(r"{\w+}", evil, route.path)
                for target in (path, f"{path_of(route)}?cursor={evil}&limit=1", f"{path_of(route)}?{evil}={evil}"):
                    answer = await client.request(method_of(route), target, json={} if route.body else None)
                    assert answer.status_code < 500
                    assert "x-evil" not in answer.headers and "\x1b" not in str(answer.headers)
                assert not [fields for event, fields in house.logs if event == "http.fault"]


async def test_a_bug_is_a_500_without_details_and_is_logged(house: House) -> None:
    async def broken(message: object) -> None:
        raise RuntimeError("the secret reason")

    house.storage.alerts.all = broken  # type: ignore[method-assign,assignment]
    async with await house.client() as client:
        answer = await client.get("/v1/stream?keyword=x")
    assert_problem(answer, 500, "internal")
    assert "secret" not in answer.text
    (fault,) = [fields for event, fields in house.logs if event == "http.fault"]
    assert fault["request_id"] == answer.headers["x-request-id"]


async def test_unreadable_keys_open_nothing_and_count_the_address(house: House) -> None:
    async def broken(_hash: str, _now: int) -> None:
        raise Unavailable("the disk is gone")

    house.storage.keys.by_hash = broken  # type: ignore[method-assign,assignment]
    async with await house.client(*SCOPES) as client:
        for _ in range(2):
            answer = await client.get("/v1/sources")
            assert_problem(answer, 503, "unavailable")
    assert int(answer.headers["ratelimit-remaining"]) < int(answer.headers["ratelimit-limit"]) - 1


def test_x16_a_view_without_a_declared_scope_cannot_be_registered() -> None:
    app = the_app()
    with pytest.raises(ValueError, match="needs a Route"):
        app.add_url_rule("/open", "open", lambda: "open")
    with pytest.raises(ValueError, match="needs a Route"):
        app.route("/open")(lambda: "open")


def test_x16_a_path_has_each_method_once() -> None:
    app = the_app()
    with pytest.raises(ValueError, match="there already"):
        route = next(iter(app.routes.values()))
        app.declare(app.programs, route.label, route.path, route.method, lambda: "open")


def test_x16_a_route_needs_a_scope_that_exists() -> None:
    async def run(call: Call) -> Answer:
        return Answer()

    for scopes in ({"scope": "sources:all"}, {"scope": "sources:read", "beside": ("sources:all",)}):
        with pytest.raises(ValueError, match="is no scope"):
            Route(method="GET", path="/x", run=run, says="", answers={}, **scopes)
    with pytest.raises(ValueError, match="needs no scope"):
        Route(method="GET", path="/x", run=run, says="", answers={}, scope=PUBLIC, beside=("sources:read",))


def test_x16_a_route_with_several_scopes_wants_them_all() -> None:
    async def run(call: Call) -> Answer:
        return Answer()

    def lacks(*scopes: str) -> tuple[str, ...]:
        key = ApiKey("k", "k", "svc_k", "0" * 64, scopes, NOW)
        assert route.granted_to(key, {"x": "1"}) is not bool(route.lacking(key, {"x": "1"}))
        return route.lacking(key, {"x": "1"})

    more = {"narrower": "alerts:write:{x}", "beside": ("sources:write",)}
    route = Route(method="GET", path="/{x}", scope="alerts:write", run=run, says="", answers={}, **more)
    assert lacks() == ("alerts:write", "sources:write")
    assert lacks("alerts:write") == lacks("alerts:write:1") == ("sources:write",)
    assert lacks("sources:write", "alerts:write:2") == ("alerts:write",)
    assert lacks("sources:write", "alerts:write") == lacks("sources:write", "alerts:write:1") == ()


async def test_while_the_service_stops_new_work_is_refused(house: House) -> None:
    house.draining = True
    async with await house.client() as client:
        answer = await client.get("/v1/sources")
        assert_problem(answer, 503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert (await client.get("/healthz")).status_code == 200
