"""A bin as a destination of the service: it gets the same request as any receiver, without a socket."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import trio

from actors.destination_kinds.bins import BODY, LIFETIME, MOST_CAPTURES, Bins, delivery_transport
from actors.egress.failures import Blame, CheckFailed
from actors.egress.url import parse_url
from sanderling_client.receiver.checking import Means, check_all
from sanderling_client.receiver.documents import items
from sanderling_client.receiver.report import Paper
from sanderling_client.verify import check_webhook
from storage.records.bin import Bin
from tests.actors.test_delivering import Town, asked
from tests.api.house import BASE_URL
from tests.support.build import NOW
from tests.support.disks import count

SIGNED = ("webhook-timestamp", "webhook-signature", "host")
"""Headers that differ at each attempt or receiver."""


async def captures(client: httpx.AsyncClient, bin: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.get(f"/v1/webhook-bins/{bin['id']}/captures?limit=100")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


async def hooked(client: httpx.AsyncClient, alert: dict[str, Any], url: str, **more: Any) -> dict[str, Any]:
    return await asked(client, f"/v1/alerts/{alert['id']}/destinations", kind="webhook", url=url, **more)


async def test_a_bin_gets_the_request_of_a_receiver_and_verifies_both_signatures(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="price")
            bin = await asked(client, "/v1/webhook-bins")
            home = await hooked(client, alert, bin["url"] + "/in?a=b")
            await hooked(client, alert, "https://hook.test/in")
            town.titles.insert(0, "A new price")
            await trio.sleep(3600)
        (arrived,) = town.arrived
        async with town.running() as client:
            (found,) = await captures(client, bin)
            lines = (await client.get(f"/v1/destinations/{home['id']}/deliveries")).json()
    headers = dict(found["headers"])
    same = {name: value for name, value in headers.items() if name not in SIGNED}
    assert same == {name: value for name, value in arrived.headers.items() if name not in SIGNED}
    assert list(headers) == list(arrived.headers)
    assert (found["method"], found["body"].encode()) == ("POST", arrived.body)
    assert (found["path"], found["query"]) == (bin["url"].removeprefix(BASE_URL) + "/in", "a=b")
    check = found["signature_check"]
    assert (check["hmac"]["ok"], check["hmac"]["cause"], check["ed25519"]["ok"]) == (True, "verified", True)
    assert [each["id"] for each in check["ed25519"]["events"]] == [json.loads(found["body"])["id"]]
    assert [(line["result"], line["status_code"]) for line in lines] == [("sent", 200)]
    now = int(headers["webhook-timestamp"])
    assert check_webhook([home["secret"]], headers, found["body"].encode(), now=now).valid


async def test_a_digest_in_a_bin_is_checked_event_by_event_and_by_verify_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="price")
            bin = await asked(client, "/v1/webhook-bins")
            home = await hooked(client, alert, bin["url"], delivery_mode="hourly")
            town.titles[:0] = ["Price one", "Price two"]
            await trio.sleep(2 * 3600)
        async with town.running() as client:
            answer = await client.get(f"/v1/webhook-bins/{bin['id']}/captures")
            keys = (await client.get("/.well-known/jwks.json")).json()
    (found,) = answer.json()
    check = found["signature_check"]
    assert [each["ok"] for each in (check["hmac"], check["ed25519"], *check["ed25519"]["events"])] == [True] * 4
    assert [each["id"] for each in check["ed25519"]["events"]] == [e["id"] for e in json.loads(found["body"])["events"]]
    said: list[str] = []
    counts = check_all(answer.content, Means([home["secret"]], keys, 0), Paper(), said.append, json=False)
    assert (dict(counts), len(said), len(list(items(answer.content)))) == ({"verified": 1}, 3, 1)


async def test_a_request_altered_on_its_way_to_a_bin_is_marked(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="price")
            bin, other = await asked(client, "/v1/webhook-bins"), await asked(client, "/v1/webhook-bins")
            home = await hooked(client, alert, bin["url"])
            assert (await asked(client, f"/v1/destinations/{home['id']}/test"))["result"] == "sent"
            (sent,) = await captures(client, bin)
            headers = {name: value for name, value in sent["headers"] if name.startswith("webhook-")}
            rewritten = json.dumps(json.loads(sent["body"]), indent=1)
            changed = sent["body"].replace("Sanderling", "Pelican").replace("test", "best")
            for url, body in (
                (bin["url"], rewritten),
                (bin["url"], changed),
                (bin["url"], "hello"),
                (other["url"], sent["body"]),
            ):
                await client.post(url, content=body, headers=headers)
            await client.get(bin["url"])
            plain, hello, forged, again, first = [each["signature_check"] for each in await captures(client, bin)]
            (stranger,) = [each["signature_check"] for each in await captures(client, other)]
    causes = [
        (each["hmac"]["cause"], each["ed25519"]["cause"]) for each in (first, again, forged, hello, plain, stranger)
    ]
    assert causes == [
        ("verified", "verified"),
        ("re-serialised", "verified"),
        ("changed", "changed"),
        ("no-match", "not-checked"),
        ("not-checked", "not-checked"),
        ("not-checked", "verified"),
    ]
    assert [each["hmac"]["ok"] for each in (first, again, plain)] == [True, False, None]
    assert "the secret is not known here" in stranger["hmac"]["why"]


async def test_a_rotation_keeps_the_verdicts_on_older_captures(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="price")
            bin = await asked(client, "/v1/webhook-bins")
            home = await hooked(client, alert, bin["url"])
            await asked(client, f"/v1/destinations/{home['id']}/test")
            await asked(client, f"/v1/destinations/{home['id']}/rotate-secret")
            await trio.sleep(5)
            await asked(client, f"/v1/destinations/{home['id']}/test")
            newer, older = [each["signature_check"]["hmac"] for each in await captures(client, bin)]
    assert (newer["cause"], older["ok"]) == ("verified", True)


async def test_a_bin_that_is_gone_is_an_answer_404_that_is_tried_again(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="price")
            bin = await asked(client, "/v1/webhook-bins")
            home = await hooked(client, alert, bin["url"])
            assert (await client.delete(f"/v1/webhook-bins/{bin['id']}")).status_code == 204
            result = await asked(client, f"/v1/destinations/{home['id']}/test")
    assert (result["result"], result["status_code"]) == ("retry", 404)
    assert "no such bin" in result["detail"]


async def test_x17_expired_bins_are_swept_with_their_captures(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            bins = [await asked(client, "/v1/webhook-bins") for _ in range(12)]
            await client.post(bins[0]["url"], content="x")
            await trio.sleep(LIFETIME / 1000 + 700)
        assert (count(town.storage.disk, "bin"), count(town.storage.disk, "capture")) == (0, 0)


async def test_storage_that_takes_nothing_is_our_fault_and_not_the_bins(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        bins = Bins(town.world, town.storage, BASE_URL)
        bin = await bins.create()
        way = delivery_transport(NOWHERE, bins, "")
        town.storage.disk.full = True
        with pytest.raises(CheckFailed) as caught:
            await way.deliver.post(parse_url(bins.address(bin)), {}, b"{}")
        assert caught.value.blame is Blame.LOCAL


async def test_x17_a_digest_that_is_too_long_for_a_bin_is_cut_there_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        bins = Bins(town.world, town.storage, BASE_URL)
        bin = await bins.create()
        posted = await delivery_transport(NOWHERE, bins, "").deliver.post(
            parse_url(bins.address(bin)), {}, b"a" * (BODY + 1)
        )
        (kept,) = (await town.storage.bins.captures(bin.id, None, MOST_CAPTURES, 1)).captures
    assert posted.status == 200
    assert (len(kept.capture.body), kept.capture.size, kept.capture.truncated) == (BODY, BODY + 1, True)


NOWHERE: Any = SimpleNamespace(deliver=None, deliver_plain=None, dial=None, dial_plain=None, last_address=str)
"""It can reach nothing."""


@pytest.mark.parametrize(
    ("base_url", "reachable"),
    [("http://h.test/a/b", True), ("http://h.test:22/a/b", False), ("http://h.test:0", False)],
)
def test_bin_addresses_follow_the_public_address(base_url: str, reachable: bool) -> None:
    nothing: Any = None
    bins = Bins(nothing, nothing, base_url)
    address = bins.address(Bin("id", "token", NOW, NOW))
    assert address == base_url + "/bins/token"
    assert reachable == (bins.path_in(parse_url("http://h.test/a/b/bins/token/x?y=1")) == "/bins/token/x?y=1")
    assert bins.path_in(parse_url("http://h.test/bins/token")) is None
    assert bins.path_in(parse_url("https://h.test/a/b/bins/token")) is None
