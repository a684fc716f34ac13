from __future__ import annotations

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from actors.errors import LibraryFull, Overloaded, TooSoon, Unprocessable, UrlRefused
from actors.messages.sources import CheckNow, EditSource
from actors.messages.views import PushView, SourceView
from storage.records.checks import Verdict, add_row, check_row
from storage.records.identity import Millis, rfc3339
from storage.records.source import BreakerState, Health, SourceRuntime
from supervision import Unanswered
from tests.api.house import House
from tests.support.build import NOW, a_source, a_source_id

CONTRACT = {
    "id", "url", "type", "detected_type", "detection", "enabled", "tags", "selector", "ignore", "filter",
    "schedule", "bar", "noise_count", "created_at", "updated_at", "last_fetch_at", "last_success_at", "next_fetch_at",
    "last_event_at", "health", "breaker", "subprotocols", "has_hello", "replies",
    "has_headers", "headers_for", "headers_from",
    "own_only", "hours", "title", "screenshots",
    "found_title", "state", "follow", "follow_hosts", "render", "wait_for", "rendered", "effective", "inherited",
    "revision", "updated_by", "managed",
}  # fmt: skip
TWINS = {
    "health_score", "health_flag", "health_reason", "health_rank", "detection_confidence", "detection_evidence",
    "discovered_feed_url", "mode", "supported", "follow_one_hop", "private",
}  # fmt: skip


async def test_a_source_is_created_once(house: House, client: httpx.AsyncClient) -> None:
    first = await client.post("/v1/sources", json={"url": "https://a.test/"})
    second = await client.post("/v1/sources", json={"url": "https://a.test/"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert set(first.json()) == CONTRACT | TWINS
    assert (await client.get(first.headers["location"])).json() == first.json()


async def test_the_request_reaches_the_registry(house: House, client: httpx.AsyncClient) -> None:
    asked = {
        "url": "https://a.test/",
        "type": "html",
        "tags": ["topic:x", "mine"],
        "selector": "main",
        "ignore": [".ad"],
        "schedule": "10m",
        "backfill": 7,
    }
    answer = (await client.post("/v1/sources", json=asked)).json()
    new = house.registry.seen[0].new
    assert (new.type, new.tags, new.schedule, new.backfill) == ("html", ("topic:x", "label:mine"), "10m", 7)
    assert (answer["tags"], answer["schedule"], answer["selector"]) == (["topic:x", "label:mine"], "10m", "main")
    assert (answer["mode"], answer["ignore"]) == ("poll", [".ad"])


async def test_headers_of_a_source_are_stored_and_never_shown(house: House, client: httpx.AsyncClient) -> None:
    made = await client.post("/v1/sources", json={"url": "https://a.test/", "headers": "Cookie: s3cret=1"})
    assert made.json()["has_headers"] is True and house.registry.seen[0].new.headers == "Cookie: s3cret=1"
    changed = await client.patch(f"/v1/sources/{made.json()['id']}", json={"headers": None})
    assert changed.json()["has_headers"] is False
    refused = await client.post("/v1/sources", json={"url": "https://a.test/", "headers": ["s3cret"]})
    assert refused.status_code == 400
    assert "s3cret" not in made.text + changed.text + refused.text + repr(house.registry.seen)


async def test_x20_a_source_hides_the_secrets_of_a_redirects_target_but_not_of_its_own_url(
    house: House, client: httpx.AsyncClient
) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/?token=mine"})).json()
    assert made["detection"]["final_url"] == made["url"] == "https://a.test/?token=mine"
    view = house.registry.views[made["id"]]
    led = replace(view.source.detection, final_url="https://me:pl4nt3d@b.test/?sig=pl4nt3d&page=2")
    house.registry.views[made["id"]] = SourceView(replace(view.source, detection=led), view.hot)
    shown = (await client.get(f"/v1/sources/{made['id']}")).json()
    assert shown["detection"]["final_url"] == "https://REDACTED@b.test/?sig=REDACTED&page=2"


async def test_a_source_follows_its_new_links_on_request(house: House, client: httpx.AsyncClient) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/", "follow": "new_links"})).json()
    assert (made["follow"], made["follow_one_hop"]) == ("new_links", True)
    changed = (await client.patch(f"/v1/sources/{made['id']}", json={"follow": "none"})).json()
    assert (changed["follow"], changed["follow_one_hop"]) == ("none", False)
    refused = await client.post("/v1/sources", json={"url": "https://a.test/", "follow": "all"})
    assert refused.status_code == 400


@pytest.mark.parametrize("tag", ["template:x", "source_type:html", "channel:a", "kind:b", "change:new", ":x", "x:"])
async def test_reserved_or_empty_tags_are_refused(client: httpx.AsyncClient, tag: str) -> None:
    answer = await client.post("/v1/sources", json={"url": "https://a.test/", "tags": ["fine", tag]})
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (422, "body.tags[1]")
    assert answer.json()["errors"][0]["value"] == tag


@pytest.mark.parametrize("schedule", ["30s", "8d", "0m"])
async def test_a_schedule_out_of_bounds_is_refused(client: httpx.AsyncClient, schedule: str) -> None:
    answer = await client.post("/v1/sources", json={"url": "https://a.test/", "schedule": schedule})
    assert (answer.status_code, answer.json()["errors"][0]["value"]) == (422, schedule)


@pytest.mark.parametrize(
    ("error", "status", "slug", "retry"),
    [
        (UrlRefused("private address", "10.0.0.1 is private."), 422, "url-refused", None),
        (Unprocessable("There is nothing to watch.", "body.url", "x"), 422, "unprocessable", None),
        (TooSoon("Asked a moment ago.", 7), 429, "rate-limited", "7"),
        (Overloaded("Our resolver is silent.", 9), 503, "unavailable", "9"),
        (LibraryFull("the library is full: max_sources is 7"), 409, "library-full", None),
        (Unanswered("gone"), 503, "unavailable", "5"),
    ],
)
async def test_a_refusal_of_the_registry_is_a_problem(
    house: House, client: httpx.AsyncClient, error: Exception, status: int, slug: str, retry: str | None
) -> None:
    real, house.registry.refusals["https://a.test/"] = house.registry._handle, error

    def handle(message: Any) -> Any:
        if isinstance(error, Unanswered):
            message.reply.fail(error)
            return None
        return real(message)

    house.registry._handle = handle  # type: ignore[method-assign]
    answer = await client.post("/v1/sources", json={"url": "https://a.test/"})
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (status, slug)
    assert answer.headers.get("retry-after") == retry
    if slug == "url-refused":
        assert "private address" in answer.json()["detail"]


async def test_a_registry_that_does_not_answer_is_503(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    house.registry.silent.add("https://a.test/")
    answer = await client.post("/v1/sources", json={"url": "https://a.test/"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


async def test_a_batch_answers_for_each_in_order(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    await client.post("/v1/sources", json={"url": "https://old.test/"})
    house.registry.refusals["https://bad.test/"] = UrlRefused("private address", "It is private.")
    house.registry.silent.add("https://slow.test/")
    names = ["new", "old", "bad", "slow"]
    batch = [{"url": f"https://{name}.test/"} for name in names] + [{"url": "https://x.test/", "tags": ["kind:x"]}]
    answer = await client.post("/v1/sources", json={"sources": batch})
    results = answer.json()["results"]
    assert answer.status_code == 207
    assert [result["url"] for result in results] == [source["url"] for source in batch]
    statuses = [result["status"] for result in results]
    assert statuses == ["created", "attached_existing", "failed", "timeout", "failed"]
    assert results[0]["source"]["id"] and results[0]["detected_type"] == "feed" and results[0]["error"] is None
    assert results[2]["error"]["type"].endswith("/url-refused") and results[2]["source"] is None
    assert results[4]["error"]["errors"][0]["location"] == "body.sources[4].tags[0]"


async def test_a_batch_that_succeeds_is_201_and_takes_at_most_20(client: httpx.AsyncClient) -> None:
    batch = [{"url": f"https://s{n}.test/"} for n in range(21)]
    assert (await client.post("/v1/sources", json={"sources": batch})).status_code == 400
    assert (await client.post("/v1/sources", json={"sources": batch[:20]})).status_code == 201


async def test_the_list_is_worst_first_and_pages_with_links(house: House, client: httpx.AsyncClient) -> None:
    for number, score in enumerate((1.0, 0.2, 0.6, 0.9, 0.4), 1):
        source = a_source(number)
        house.registry.views[source.id] = SourceView(source, SourceRuntime(health=Health(score=score)))
    seen, target = [], "/v1/sources?limit=2"
    while target:
        answer = await client.get(target)
        page = answer.json()
        assert isinstance(page, list) and len(page) <= 2
        seen += [source["health_score"] for source in page]
        link = answer.headers.get("link", "")
        target = link.partition("<")[2].partition(">")[0]
        assert not link or link.endswith('rel="next"')
    assert seen == [0.2, 0.4, 0.6, 0.9, 1.0]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=", "cursor=W10", "offset=1"])
async def test_a_bad_page_is_400(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"/v1/sources?{query}")).status_code == 400


async def test_health_and_status_say_how_a_source_is_doing(house: House, client: httpx.AsyncClient) -> None:
    source = a_source()
    breaker = BreakerState("open", failures=3, opened=1, retry_at=Millis(NOW + 60_000))
    hot = SourceRuntime(
        breaker=breaker, health=Health(0.2, "rotten", "It is gone."), last_error="refused", last_look_at=NOW
    )
    house.registry.views[source.id] = SourceView(source, hot)
    health = (await client.get(f"/v1/sources/{source.id}/health")).json()
    assert health == {
        "score": 0.2,
        "flag": "rotten",
        "reason": "It is gone.",
        "last_success_at": "2026-05-28T20:26:40.000Z",
        "rank": 2,
        "last_checked_at": "2026-05-28T20:26:40.000Z",
    }
    status = (await client.get(f"/v1/sources/{source.id}/status")).json()
    assert status["breaker"] == {"state": "open", "retry_at": "2026-05-28T20:27:40.000Z"}
    assert (status["last_error"], status["queue_position"], status["state"]) == ("refused", 0, "active")
    assert (status["enabled"], status["health_flag"]) == (True, "rotten"), "twins, for existing clients"


async def test_edit_disable_enable_delete(house: House, client: httpx.AsyncClient) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/", "selector": "p", "schedule": "5m"})).json()
    path = f"/v1/sources/{made['id']}"
    edited = (await client.patch(path, json={"selector": None, "tags": ["x"], "type": "html"})).json()
    assert (edited["selector"], edited["tags"], edited["type"], edited["schedule"]) == (None, ["label:x"], "html", "5m")
    assert (await client.patch(path, json={})).json() == edited
    assert (await client.patch(path, json={"url": "https://b.test/"})).status_code == 400
    assert (await client.patch(path, json={"tags": None})).status_code == 400
    assert (await client.post(f"{path}/disable")).json()["enabled"] is False
    conflict = await client.post(f"{path}/check")
    assert (conflict.status_code, conflict.json()["type"].rpartition("/")[2]) == (409, "conflict")
    assert (await client.post(f"{path}/enable")).json()["enabled"] is True
    checked = await client.post(f"{path}/check")
    assert (checked.status_code, checked.json()["next_fetch_at"]) == (202, "2026-05-28T20:26:40.000Z")
    gone = await client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.delete(path)).status_code == 404
    edits = [message for message in house.registry.seen if isinstance(message, EditSource)]
    assert len(edits) == 4, "two of fields, off, on"
    assert any(isinstance(message, CheckNow) for message in house.registry.seen)


async def test_detect_adds_nothing(house: House, client: httpx.AsyncClient) -> None:
    answer = (await client.post("/v1/sources/detect", json={"url": "https://a.test/"})).json()
    assert (answer["type"], answer["supported"], answer["evidence"]) == ("feed", True, "root element <rss>")
    assert not house.registry.views


@pytest.mark.parametrize("name", ["x", "1", str(a_source_id(9)), "%F0%9F%A6%86"])
async def test_an_unknown_id_is_404(client: httpx.AsyncClient, name: str) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/health"), ("POST", "/check")):
        assert (await client.request(method, f"/v1/sources/{name}{path}")).status_code == 404


async def test_the_check_history_is_newest_first_and_merges_equal_results(
    house: House, client: httpx.AsyncClient
) -> None:
    trail = b""
    for minute in range(5):
        trail = add_row(trail, check_row(Millis(NOW + 60_000 * minute), Verdict.UNCHANGED, 304, ms=20))
    trail = add_row(trail, check_row(Millis(NOW + 600_000), Verdict.CHANGED, 200, size=900, ms=31))
    source = a_source()
    house.registry.views[source.id] = SourceView(source, SourceRuntime(trail=trail))
    answer = (await client.get(f"/v1/sources/{source.id}/looks")).json()
    assert answer["id"] == source.id
    assert [(row["verdict"], row["looks"], row["status"], row["bytes"]) for row in answer["looks"]] == [
        ("changed", 1, 200, 900),
        ("unchanged", 5, 304, 0),
    ]
    assert answer["looks"][1]["first_at"] < answer["looks"][1]["last_at"] < answer["looks"][0]["first_at"]
    missing = await client.get(f"/v1/sources/{a_source_id(99)}/looks")
    assert missing.status_code == 404


async def test_the_hello_of_a_push_source_is_stored_and_never_shown(house: House, client: httpx.AsyncClient) -> None:
    asked = {"url": "wss://a.test/live", "type": "push", "subprotocols": ["b.v2", "b"], "hello": "token s3cret"}
    made = await client.post("/v1/sources", json=asked)
    assert (made.json()["subprotocols"], made.json()["has_hello"]) == (["b.v2", "b"], True)
    changed = await client.patch(f"/v1/sources/{made.json()['id']}", json={"subprotocols": [], "hello": None})
    assert (changed.json()["subprotocols"], changed.json()["has_hello"]) == ([], False)
    assert "s3cret" not in made.text + changed.text + repr(house.registry.seen) + repr(house.registry.views)
    assert house.registry.seen[0].new.hello == "token s3cret"


@pytest.mark.parametrize(
    "wish",
    [
        {"subprotocols": ["a b"]},
        {"subprotocols": [""]},
        {"subprotocols": ["a\n"]},
        {"subprotocols": ["a"] * 17},
        {"hello": ""},
        {"hello": "x" * 4097},
    ],
)
async def test_a_subprotocol_is_a_token_and_a_hello_has_a_size(
    house: House, client: httpx.AsyncClient, wish: dict[str, Any]
) -> None:
    assert (await client.post("/v1/sources", json={"url": "wss://a.test/", **wish})).status_code == 400


async def test_a_subprotocol_is_offered_once(house: House, client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/sources", json={"url": "wss://a.test/", "subprotocols": ["a", "b", "a"]})
    assert answer.status_code == 422
    assert "subprotocols[2]" in answer.json()["detail"]


async def test_the_status_of_a_push_source_counts_its_frames(house: House, client: httpx.AsyncClient) -> None:
    source = a_source(1, url="wss://a.test/", type="push")
    seen = PushView(NOW, "b", connections=2, frames=9, admitted=1, duplicates=2, filtered=5, unreadable=1)
    house.registry.views[source.id] = SourceView(source, SourceRuntime(), push=seen)
    status = (await client.get(f"/v1/sources/{source.id}/status")).json()["push"]
    assert status == {
        "connected_since": rfc3339(NOW),
        "subprotocol": "b",
        "connections": 2,
        "frames": 9,
        "admitted": 1,
        "duplicates": 2,
        "filtered": 5,
        "unreadable": 1,
    }
    feed = a_source(2)
    house.registry.views[feed.id] = SourceView(feed, SourceRuntime())
    assert (await client.get(f"/v1/sources/{feed.id}/status")).json()["push"] is None


async def test_verify_later_adds_an_unreachable_url(house: House, client: httpx.AsyncClient) -> None:
    for name in "ab":
        error = Unprocessable("it can't be watched now", "body.url")
        error.may_pass = True
        house.registry.refusals[f"https://{name}.test/"] = error
    house.registry.refusals["https://in.test/"] = UrlRefused("address-private", "It is private.")
    for body in ({}, {"verify": "now"}):
        assert (await client.post("/v1/sources", json={"url": "https://a.test/", **body})).status_code == 422
    made = await client.post("/v1/sources", json={"url": "https://a.test/", "verify": "later"})
    assert (made.status_code, made.json()["detection"]["pending"]) == (201, True)
    urls = [{"url": f"https://{name}.test/", "verify": "later"} for name in ("b", "in", "ok")]
    results = (await client.post("/v1/sources", json={"sources": urls})).json()["results"]
    assert [result["status"] for result in results] == ["created", "failed", "created"]
    assert [result["source"]["detection"]["pending"] for result in (results[0], results[2])] == [True, False]
    assert (await client.post("/v1/sources", json={"url": "https://x.test/", "verify": "soon"})).status_code == 400
