"""Test inboxes over HTTP: a reader with the scope gets captured requests byte for byte, and no other client does."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest
import trio

from actors.destination_kinds.bins import BODY, LIFETIME, MOST_BINS, MOST_CAPTURES
from extras.inbox.endpoint import AT_ONCE, OF_ONE, READ
from sanderling_client.receiver.capture import Capture, is_capture, of_json
from sanderling_client.receiver.documents import items
from storage.records.identity import parse_rfc3339
from tests.api.house import BASE_URL, House, make_house, running
from tests.storage.contract.builders import a_bin
from tests.support.disks import count

BINS = ("bins:read", "bins:write")
SAME = {"date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}
"""Headers that may differ between two equal answers."""


async def minted(house: House) -> tuple[httpx.AsyncClient, dict[str, Any]]:
    client = await house.client(*BINS)
    answer = await client.post("/v1/webhook-bins")
    assert answer.status_code == 201, answer.text
    return client, answer.json()


async def captures(client: httpx.AsyncClient, bin: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"/v1/webhook-bins/{bin['id']}/captures", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


# --- bins ------------------------------------------------------------------------------------------------------------


async def test_a_bin_is_made_listed_read_and_deleted(house: House) -> None:
    client, bin = await minted(house)
    token = bin["url"].removeprefix(f"{BASE_URL}/bins/")
    assert set(bin) == {"id", "url", "created_at", "expires_at"}
    assert parse_rfc3339(bin["expires_at"]) - parse_rfc3339(bin["created_at"]) == 7 * 86_400_000
    assert token != bin["url"] and len(base64.urlsafe_b64decode(token)) * 8 >= 128
    await trio.sleep(0.001)  # ids of one millisecond have no order
    other = (await client.post("/v1/webhook-bins")).json()
    assert (await client.get("/v1/webhook-bins")).json() == [bin, other]
    first = await client.get("/v1/webhook-bins?limit=1")
    assert (await client.get(first.links["next"]["url"])).json() == [other]
    path = f"/v1/webhook-bins/{bin['id']}"
    assert (await client.get(path)).json() == bin
    assert (await client.delete(path)).status_code == 204
    for method, where in (("GET", path), ("DELETE", path), ("GET", f"{path}/captures"), ("GET", "/v1/webhook-bins/x")):
        assert (await client.request(method, where)).status_code == 404
    assert (await client.get("/v1/webhook-bins")).json() == [other]


async def test_x17_reading_and_making_bins_are_scopes_of_their_own(house: House) -> None:
    _, bin = await minted(house)
    path = f"/v1/webhook-bins/{bin['id']}"
    async with await house.client("bins:read") as reader, await house.client("bins:write") as writer:
        assert (await reader.get(f"{path}/captures")).status_code == 200
        for answer in (await writer.get(f"{path}/captures"), await writer.get("/v1/webhook-bins")):
            assert answer.status_code == 403
        for answer in (await reader.post("/v1/webhook-bins"), await reader.delete(path)):
            assert answer.status_code == 403
    async with house.stranger() as stranger:
        assert (await stranger.get(f"{path}/captures")).status_code == 401


async def test_x17_there_is_an_end_to_how_many_bins_there_may_be(house: House) -> None:
    for number in range(MOST_BINS):
        await house.storage.bins.add(a_bin(f"b{number}"))
    async with await house.client(*BINS) as client:
        answer = await client.post("/v1/webhook-bins")
    assert (answer.status_code, str(MOST_BINS) in answer.json()["detail"]) == (409, True)


# --- capturing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
async def test_any_method_is_captured_at_the_bin_and_below_it_and_answered_alike(house: House, method: str) -> None:
    client, bin = await minted(house)
    async with house.stranger() as stranger:
        answers = [await stranger.request(method, bin["url"] + more) for more in ("", "/", "/a//b%2F%C3%A5?x=1&x=%20")]
    for answer in answers:
        assert (answer.status_code, answer.text) == (200, "" if method == "HEAD" else "ok\n")
        headers = {name: value for name, value in answer.headers.items() if name not in SAME}
        assert headers == {
            "content-type": "text/plain; charset=utf-8",
            "content-length": "3",
            "x-content-type-options": "nosniff",
            "content-security-policy": "sandbox; default-src 'none'",
            "cache-control": "no-store",
            "ratelimit-limit": "100",
            "ratelimit-policy": "100;w=10",
        }
    found = await captures(client, bin)
    assert [each["method"] for each in found] == [method] * 3
    own = bin["url"].removeprefix(BASE_URL)
    assert [each["path"].removeprefix(own) for each in found] == ["/a//b%2F%C3%A5", "/", ""]
    assert [each["query"] for each in found] == ["x=1&x=%20", "", ""]


async def test_a_capture_has_every_byte_and_every_header_in_order(house: House) -> None:
    client, bin = await minted(house)
    sent = [("x-b", "1"), ("x-a", "å".encode("latin-1")), ("x-b", "2"), ("authorization", "Bearer theirs")]
    async with house.stranger() as stranger:
        await stranger.post(bin["url"], headers=sent, content='{"é": "\\u0000 <script>"}')  # type: ignore[arg-type]
        await stranger.post(bin["url"], content=b"\xff\x00\xfe")
    binary, text = await captures(client, bin)
    assert [tuple(pair) for pair in text["headers"] if pair[0].startswith(("x-", "auth"))] == [
        ("x-b", "1"), ("x-a", "å"), ("x-b", "2"), ("authorization", "Bearer theirs")
    ]  # fmt: skip
    assert text["body"] == '{"é": "\\u0000 <script>"}' and "body_base64" not in text
    assert base64.b64decode(binary["body_base64"]) == b"\xff\x00\xfe" and "body" not in binary
    assert (binary["size"], binary["truncated"], text["truncated"]) == (3, False, False)
    assert binary["received_at"] >= text["received_at"] and binary["id"] > text["id"]


async def test_x17_nothing_of_a_request_comes_back(house: House) -> None:
    _, bin = await minted(house)
    planted = "needle-7f3a"
    async with house.stranger() as stranger:
        for method, where in (("POST", bin["url"]), ("POST", f"{BASE_URL}/bins/nobody"), ("GET", f"{BASE_URL}/bins/")):
            answer = await stranger.request(
                method,
                f"{where}/{planted}?q={planted}",
                headers={"X-Request-Id": planted, "Origin": f"https://{planted}", "X-Planted": planted},
                content=planted,
            )
            assert planted not in answer.text + repr(answer.headers)
            assert "access-control-allow-origin" not in answer.headers


async def test_x17_an_unknown_bin_and_an_expired_one_are_the_same_404(house: House, autojump_clock: object) -> None:
    _, bin = await minted(house)
    await trio.sleep(LIFETIME / 1000)
    bodies = set()
    async with house.stranger() as stranger:
        paths = (bin["url"], f"{BASE_URL}/bins/", f"{BASE_URL}/bins/{'A' * 32}", f"{BASE_URL}/bins/%00/x")
        for path in paths:
            answer = await stranger.post(path, content="x")
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
            assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
            bodies.add(answer.content)
    assert len(bodies) == 1
    async with await house.client(*BINS) as client:
        assert (await client.get(f"/v1/webhook-bins/{bin['id']}")).status_code == 404
        assert (await client.get("/v1/webhook-bins")).json() == []
    assert count(house.storage.disk, "capture") == 0


async def test_x17_a_bin_keeps_its_last_hundred_captures_and_lists_them_in_pages(
    house: House, autojump_clock: object
) -> None:
    _, bin = await minted(house)
    async with house.stranger() as stranger:
        for number in range(MOST_CAPTURES + 5):
            await trio.sleep(1)
            assert (await stranger.post(bin["url"], content=str(number))).status_code == 200
    client = await house.client(*BINS)  # the old connection has timed out
    seen: list[str] = []
    path: str | None = f"/v1/webhook-bins/{bin['id']}/captures?limit=30"
    while path is not None:
        answer = await client.get(path)
        seen += [each["body"] for each in answer.json()]
        path = answer.links["next"]["url"] if "next" in answer.links else None
    assert seen == [str(number) for number in reversed(range(5, MOST_CAPTURES + 5))]


async def test_x17_a_long_body_is_cut_and_a_very_long_one_is_not_read_to_its_end(house: House) -> None:
    client, bin = await minted(house)
    async with house.stranger() as stranger:
        for size in (BODY, BODY + 1, READ * 2):
            answer = await stranger.post(bin["url"], content=b"a" * size)
            assert answer.status_code == 200
            assert ("connection" in answer.headers) is (size > READ)
    huge, longer, whole = await captures(client, bin)
    assert [(each["truncated"], len(each["body"])) for each in (whole, longer, huge)] == [
        (False, BODY), (True, BODY), (True, BODY)
    ]  # fmt: skip
    assert (whole["size"], longer["size"]) == (BODY, BODY + 1) and READ <= huge["size"] < READ * 2
    assert [each["signature_check"]["hmac"]["ok"] for each in (whole, longer, huge)] == [None] * 3
    assert "was cut" in longer["signature_check"]["ed25519"]["why"]


async def test_a_chunked_body_and_one_that_expects_100_continue_are_captured_whole(
    house: House, autojump_clock: object
) -> None:
    client, bin = await minted(house)
    path = bin["url"].removeprefix(BASE_URL).encode()
    stream = await house.raw(
        b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n" % path
    )
    assert (await stream.receive_some()).startswith(b"HTTP/1.1 100")
    for piece in (b"3\r\nabc\r\n", b"2\r\nde\r\n", b"0\r\n\r\n"):
        await stream.send_all(piece)
        await trio.sleep(1)
    assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
    (found,) = await captures(client, bin)
    assert (found["body"], found["size"], found["truncated"]) == ("abcde", 5, False)
    assert ["transfer-encoding", "chunked"] in found["headers"]


async def test_x21_a_body_that_arrives_too_slowly_is_cut_and_the_received_part_is_stored(
    house: House, autojump_clock: object
) -> None:
    _, bin = await minted(house)
    path = bin["url"].removeprefix(BASE_URL).encode()
    slow = await house.raw(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" % path)
    gone = await house.raw(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf" % path)
    await trio.sleep(1)
    await gone.aclose()
    for _ in range(14):
        await slow.send_all(b"a")
        await trio.sleep(1)
    answer = (await slow.receive_some()).lower()
    assert answer.startswith(b"http/1.1 408") and b"connection: close" in answer
    found = await captures(await house.client(*BINS), bin)
    assert [(each["body"][:4], each["truncated"]) for each in found] == [("aaaa", True), ("half", True)]


async def test_x17_one_address_has_so_many_requests_at_once_and_a_second(house: House, autojump_clock: object) -> None:
    client, bin = await minted(house)
    path = bin["url"].removeprefix(BASE_URL).encode()
    held = [await house.raw(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n" % path) for _ in range(OF_ONE)]
    await trio.sleep(0.1)
    async with house.stranger() as stranger:
        refused = await stranger.post(bin["url"], content="x")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        for stream in held:
            await stream.send_all(b"123456789")
        await trio.sleep(0.1)
        statuses = [(await stranger.post(bin["url"], content="x")).status_code for _ in range(120)]
        assert statuses[0] == 200 and statuses[-1] == 429
        assert (await stranger.post(bin["url"])).headers["retry-after"] == "1"
        assert (await stranger.get("/healthz")).status_code == 200, "a bin's senders have a bucket of their own"
    assert OF_ONE < AT_ONCE
    assert len(await captures(client, bin, limit=100)) == MOST_CAPTURES


async def test_a_full_disk_is_503_and_nothing_is_reported_as_stored(house: House) -> None:
    client, bin = await minted(house)
    house.storage.disk.full = True
    async with house.stranger() as stranger:
        answer = await stranger.post(bin["url"], content="x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    house.storage.disk.full = False
    assert await captures(client, bin) == []


async def test_no_log_line_holds_a_bins_token(house: House) -> None:
    client, bin = await minted(house)
    async with house.stranger() as stranger:
        await stranger.post(bin["url"], content="x")
        await captures(client, bin)

        async def broken(*_: object, **__: object) -> bool:
            raise RuntimeError("a bug")

        house.storage.bins.capture = broken  # type: ignore[method-assign]
        assert (await stranger.post(bin["url"], content="x")).status_code == 500
    assert "http.fault" in [event for event, _ in house.logs]
    assert bin["url"].rpartition("/")[2] not in json.dumps(house.logs)


# --- as destinations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8080", "https://pub.test", "http://10.1.2.3:9000/base"])
async def test_a_bin_of_this_service_may_be_a_destination_at_any_address_and_nothing_else_of_it(
    autojump_clock: object, base_url: str
) -> None:
    house = make_house(base_url=base_url)
    async with running(house), await house.client() as client:
        bin = (await client.post("/v1/webhook-bins")).json()
        alert = (await client.post("/v1/alerts", json={"filter_query": "x"})).json()
        path = f"/v1/alerts/{alert['id']}/destinations"
        other = base_url.replace("http:", "https:") if base_url.startswith("http:") else "http://pub.test:443"
        for url, rule in (
            (bin["url"], ""),
            (f"{bin['url']}/orders?x=1", ""),
            (base_url + "/bins/" + "A" * 32, "url-no-bin"),
            (base_url + "/bins/", "url-no-bin"),
            (base_url + "/bins", "url-loop"),
            (bin["url"].replace("/bins/", "/bins/../v1/"), "url-loop"),
            (base_url + "/v1/stream", "url-loop"),
            (bin["url"].replace(base_url, other), "url-loop"),
        ):
            answer = await client.post(path, json={"url": url})
            assert (url, answer.status_code) == (url, 422 if rule else 201), answer.text
            assert f"(rule: {rule})" in answer.text or not rule


async def test_an_expired_bin_is_no_destination(house: House, autojump_clock: object) -> None:
    _, bin = await minted(house)
    await trio.sleep(LIFETIME / 1000)
    async with await house.client() as client:
        alert = (await client.post("/v1/alerts", json={"filter_query": "x"})).json()
        answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json={"url": bin["url"]})
    assert (answer.status_code, "url-no-bin" in answer.text) == (422, True)


# --- reading ---------------------------------------------------------------------------------------------------------


async def test_the_list_of_captures_is_a_file_that_verify_reads(house: House) -> None:
    client, bin = await minted(house)
    async with house.stranger() as stranger:
        await stranger.post(f"{bin['url']}/in?a=b", headers={"webhook-id": "1"}, content=b'{"a": 1}')
        await stranger.post(bin["url"], content=b"\xff")
    answer = await client.get(f"/v1/webhook-bins/{bin['id']}/captures")
    assert all(map(is_capture, answer.json()))
    found = [item.content for item in items(answer.content)]
    assert [each.body for each in found if isinstance(each, Capture)] == [b"\xff", b'{"a": 1}']
    older = of_json(answer.json()[1])
    assert older.fields()["webhook-id"] == "1" and older.query == "a=b" and older.received_at


async def test_x12_a_page_that_was_sent_comes_back_as_json_only(house: House) -> None:
    client, bin = await minted(house)
    page = "<html><script>alert(1)</script></html>"
    async with house.stranger() as stranger:
        await stranger.post(bin["url"] + "/<script>", headers={"content-type": "text/html"}, content=page)
        shown = await stranger.get(bin["url"], headers={"accept": "text/html"})
    answer = await client.get(f"/v1/webhook-bins/{bin['id']}/captures", headers={"accept": "text/html"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()[1]["body"] == page
    assert (shown.text, shown.headers["content-type"]) == ("ok\n", "text/plain; charset=utf-8")
