from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio
from msgspec.structs import replace

from actors.messages.views import TestResult as Result
from actors.messages.workers import TestDelivery as AskForTest
from api.nouns.destinations import MOST_OF_AN_ALERT, rotated
from storage.records.destination import Match, Outcome, Secret
from storage.records.identity import Millis
from supervision import Mailbox
from tests.actors.matcher.rig import a_destination
from tests.api.house import BASE_URL, House, ids, make_house, running
from tests.api.nouns.test_alerts import made
from tests.support.build import NOW

HOOK = {"kind": "webhook", "url": "https://hook.test/in", "delivery_mode": "instant"}
DAY = 24 * 3_600_000


async def hooked(client: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    """Return a new destination of a new alert."""
    alert = await made(client)
    answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json={**HOOK, **changes})
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def test_a_destination_has_every_field_and_its_secret_is_shown_once(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client, url="HTTPS://Hook.test:443/in")
    secret = record.pop("secret")
    assert secret.startswith("whsec_")
    assert record == {
        "id": record["id"],
        "alert_id": record["alert_id"],
        "kind": "webhook",
        "url": "https://hook.test/in",
        "options": {},
        "private": [],
        "delivery_mode": "instant",
        "label": "hook.test · price OR plan",
        "digest_hour": 8,
        "digest_timezone": "UTC",
        "quiet_hours": None,
        "enabled": True,
        "state": "active",
        "created_at": record["created_at"],
        "updated_at": record["created_at"],
        "last_delivery_at": None,
        "failure_rate": 0.0,
        "error_rate": 0.0,
        "duplicate_rate": 0.0,
        "replay_from": None,
        "format": "event",
        "most_at_once": 0,
        "needs_secret": False,
        "needs_agreement": False,
        "in_use_by_alert_count": 1,
        "revision": record["revision"],
        "updated_by": "test",
        "managed": None,
    }
    for path in (
        f"/v1/destinations/{record['id']}",
        "/v1/destinations",
        f"/v1/alerts/{record['alert_id']}/destinations",
    ):
        answer = await client.get(path)
        assert answer.json() in (record, [record])
        assert secret not in answer.text
    stored = await house.storage.alerts.destination(record["id"])
    assert stored is not None and [each.value for each in stored.secrets] == [secret]
    assert house.matcher.changes == 2
    assert secret not in repr(house.logs)


async def test_a_patch_changes_only_the_named_fields(house: House, client: httpx.AsyncClient) -> None:
    record = await hooked(client)
    change = {
        "url": "https://other.test/in",
        "delivery_mode": "daily",
        "label": "Mine",
        "digest_hour": 6,
        "digest_timezone": "Europe/Stockholm",
    }
    answer = await client.patch(f"/v1/destinations/{record['id']}", json=change)
    del record["secret"]
    revised = {"updated_at": answer.json()["updated_at"], "revision": answer.headers["ETag"].strip('"')}
    assert answer.json() == record | change | revised
    assert (await client.patch(f"/v1/destinations/{record['id']}", json={"kind": "webhook"})).status_code == 400
    assert house.matcher.changes == 3


async def test_enabling_restores_a_paused_or_disabled_destination(house: House, client: httpx.AsyncClient) -> None:
    path = f"/v1/destinations/{(await hooked(client))['id']}"
    answer = (await client.patch(path, json={"enabled": False})).json()
    assert (answer["enabled"], answer["state"]) == (False, "disabled")
    assert (await client.patch(path, json={"enabled": True})).json()["state"] == "active"
    id = path.rpartition("/")[2]
    gone = a_destination(id, (await client.get(path)).json()["alert_id"], state="disabled", failing_since=NOW)
    await house.storage.alerts.put_destination(gone)
    assert (await client.patch(path, json={"label": "x"})).json()["state"] == "disabled"
    assert (await client.patch(path, json={"enabled": True})).json()["state"] == "active"
    stored = await house.storage.alerts.destination(id)
    assert stored is not None and stored.failing_since is None


async def test_a_failing_destination_with_a_new_address_is_active_again(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client)
    failing = a_destination(record["id"], record["alert_id"], state="failing", failing_since=NOW)
    await house.storage.alerts.put_destination(failing)
    answer = await client.patch(f"/v1/destinations/{record['id']}", json={"url": "https://new.test/"})
    assert answer.json()["state"] == "active"


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("ftp://hook.test/", "url-scheme"),
        ("hook.test/in", "url-relative"),
        ("https://me:secret@hook.test/", "url-userinfo"),
        ("https://hook.test:25/", "url-port"),
        ("http://hook.test/in", "url-insecure"),
        ("https://nowhere.test/", "url-unresolved"),
        ("https://10.0.0.1/", "address-private"),
        ("https://127.0.0.1/", "address-loopback"),
        ("https://[::1]/", "address-loopback"),
        ("https://inside.test/", "address-private"),
        ("https://mixed.test/", "address-private"),
        ("https://169.254.169.254/latest", "address-metadata"),
        (f"{BASE_URL}/v1/sources", "url-loop"),
        ("http://SANDERLING.test:80/anything", "url-loop"),
    ],
)
async def test_each_refusal_of_a_url_is_422_and_names_its_rule(
    house: House, client: httpx.AsyncClient, url: str, rule: str
) -> None:
    house.resolver.names |= {"inside.test": ("10.1.2.3",), "mixed.test": ("93.184.216.34", "192.168.0.1")}
    record = await hooked(client)
    for answer in (
        await client.post(f"/v1/alerts/{record['alert_id']}/destinations", json={**HOOK, "url": url}),
        await client.patch(f"/v1/destinations/{record['id']}", json={"url": url}),
    ):
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (422, "url-refused")
        assert f"(rule: {rule})" in answer.json()["detail"]
    assert (await client.get(f"/v1/destinations/{record['id']}")).json()["url"] == HOOK["url"]


async def test_opened_networks_may_be_delivered_to_also_without_tls_and_nothing_else(autojump_clock: object) -> None:
    house = make_house(allow_networks=("10.0.0.0/8",), allow_deliver_networks=("127.0.0.0/8",), port=8080)
    house.resolver.names |= {"lan.test": ("10.1.2.3",), "half.test": ("10.1.2.3", "93.184.216.34")}
    async with running(house), await house.client() as client:
        alert = await made(client)
        for url, status in (
            ("http://10.0.0.1/in", 201),
            ("https://lan.test/in", 201),
            ("http://lan.test:9000/in", 201),
            ("http://127.0.0.1:9000/in", 201),
            ("http://127.0.0.1:8080/in", 422),
            ("http://half.test/in", 422),
            ("http://192.168.0.1/in", 422),
            ("http://hook.test/in", 422),
        ):
            answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json={**HOOK, "url": url})
            assert (url, answer.status_code) == (url, status)


@pytest.mark.parametrize(
    ("host", "url", "loops"),
    [
        ("10.0.0.5", "http://10.0.0.5:8080/in", True),
        ("10.0.0.5", "http://10.0.0.6:8080/in", False),
        ("0.0.0.0", "http://10.0.0.7:8080/v1/stream", True),  # the host of base_url
        ("0.0.0.0", "http://10.0.0.6:8080/in", False),  # another machine
        ("::", "http://127.0.0.1:8080/in", True),
        ("10.0.0.5", "http://sanderling.lan:8080/v1/alerts", True),
        ("10.0.0.5", "https://sanderling.lan:8080/v1/alerts", True),
        ("10.0.0.5", "http://sanderling.lan:9000/in", False),
    ],
)
async def test_a_destination_at_this_service_itself_is_refused(
    autojump_clock: object, host: str, url: str, loops: bool
) -> None:
    networks = ("10.0.0.0/8", "127.0.0.0/8")
    house = make_house(allow_networks=networks, host=host, port=8080, base_url="http://sanderling.lan:8080")
    house.resolver.names["sanderling.lan"] = ("10.0.0.7",)
    async with running(house), await house.client() as client:
        alert = await made(client)
        answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json={**HOOK, "url": url})
        assert answer.status_code == (422 if loops else 201), answer.text
        assert not loops or "(rule: url-loop)" in answer.json()["detail"]


async def test_an_unknown_option_is_422_and_the_probable_one_is_named(client: httpx.AsyncClient) -> None:
    alert = await made(client)
    new = {"kind": "ntfy", "options": {"topc": "prices"}}
    (error,) = (await client.post(f"/v1/alerts/{alert['id']}/destinations", json=new)).json()["errors"]
    assert error["location"] == "body.options.topc" and "Did you mean topic? It has: topic," in error["message"]


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "Europe", "../../etc/passwd", "Z" * 64, "a\x00b"])
async def test_an_unknown_time_zone_is_422(client: httpx.AsyncClient, zone: str) -> None:
    record = await hooked(client)
    for answer in (
        await client.post(f"/v1/alerts/{record['alert_id']}/destinations", json={**HOOK, "digest_timezone": zone}),
        await client.patch(f"/v1/destinations/{record['id']}", json={"digest_timezone": zone}),
    ):
        assert (answer.status_code, answer.json()["errors"][0]["location"]) == (422, "body.digest_timezone")


async def test_quiet_hours_are_given_changed_and_taken_away(client: httpx.AsyncClient) -> None:
    hours = {"from": "22:00", "to": "07:30", "timezone": "Europe/Stockholm", "weekdays": ["sun", "mon", "mon"]}
    record = await hooked(client, quiet_hours=hours)
    assert record["quiet_hours"] == hours | {"weekdays": ["mon", "sun"]}
    path = f"/v1/destinations/{record['id']}"
    assert (await client.patch(path, json={"label": "x"})).json()["quiet_hours"] == record["quiet_hours"]
    short = (await client.patch(path, json={"quiet_hours": {"from": "00:00", "to": "23:59"}})).json()["quiet_hours"]
    every = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    assert short == {"from": "00:00", "to": "23:59", "timezone": "UTC", "weekdays": every}
    assert (await client.patch(path, json={"quiet_hours": None})).json()["quiet_hours"] is None


@pytest.mark.parametrize(
    ("change", "status", "location"),
    [
        ({"from": "24:00"}, 400, ".from"),
        ({"from": "7:00"}, 400, ".from"),
        ({"to": "22:60"}, 400, ".to"),
        ({"to": "22:00"}, 422, ".to"),
        ({"timezone": "Europe/Nowhere"}, 422, ".timezone"),
        ({"weekdays": []}, 400, ".weekdays"),
        ({"weekdays": ["monday"]}, 400, ".weekdays[0]"),
        ({"until": "08:00"}, 400, ".until"),
    ],
)
async def test_quiet_hours_that_mean_nothing_are_refused(
    client: httpx.AsyncClient, change: dict[str, Any], status: int, location: str
) -> None:
    record = await hooked(client)
    hours = {"from": "22:00", "to": "07:00"} | change
    for answer in (
        await client.post(f"/v1/alerts/{record['alert_id']}/destinations", json={**HOOK, "quiet_hours": hours}),
        await client.patch(f"/v1/destinations/{record['id']}", json={"quiet_hours": hours}),
    ):
        found = answer.json()["errors"][0]["location"]
        assert (answer.status_code, found) == (status, f"body.quiet_hours{location}")


@pytest.mark.parametrize(
    "change",
    [{"kind": "Mail"}, {"delivery_mode": "weekly"}, {"digest_hour": 24}, {"label": ""}, {"secret": "whsec_mine"}],
)
async def test_a_malformed_destination_is_400(client: httpx.AsyncClient, change: dict[str, Any]) -> None:
    alert = await made(client)
    answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json={**HOOK, **change})
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, f"body.{next(iter(change))}")


async def test_a_missing_destination_is_404(client: httpx.AsyncClient) -> None:
    record = await hooked(client)
    path = f"/v1/destinations/{record['id']}"
    assert (await client.delete(path)).status_code == 204
    nobody = "/v1/alerts/019e7044-8800-7000-8800-00000000002a/destinations"
    asked = [("GET", path), ("DELETE", path), ("GET", f"{path}/deliveries"), ("POST", f"{path}/test"), ("GET", nobody)]
    asked += [("POST", f"{path}/rotate-secret"), ("GET", "/v1/destinations/x")]
    for method, where in asked:
        assert (where, (await client.request(method, where)).status_code) == (where, 404)
    assert (await client.patch(path, json={})).status_code == 404
    assert (await client.post(nobody, json=HOOK)).status_code == 404


async def test_there_is_an_end_to_an_alerts_destinations(client: httpx.AsyncClient) -> None:
    path = f"/v1/alerts/{(await made(client))['id']}/destinations"
    statuses = [(await client.post(path, json=HOOK)).status_code for _ in range(MOST_OF_AN_ALERT + 1)]
    assert statuses == [201] * MOST_OF_AN_ALERT + [409]


async def test_all_destinations_are_listed_in_pages(client: httpx.AsyncClient) -> None:
    made_of = [(await hooked(client))["id"] for _ in range(3)]
    first = await client.get("/v1/destinations?limit=2")
    second = await client.get(first.links["next"]["url"])
    assert [each["id"] for each in [*first.json(), *second.json()]] == sorted(made_of)
    assert "next" not in second.links


# --- actions ---------------------------------------------------------------------------------------------------------


async def test_a_test_goes_through_the_destinations_mailbox_and_says_how_it_went(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client)
    box: Mailbox[Any] = Mailbox("hook", 1)
    house.destinations[record["id"]] = box

    async def answer() -> None:
        message = await box.receive()
        assert isinstance(message, AskForTest)
        message.reply.answer(Result("retry", 500, 12, "HTTP 500 sorry"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        found = await client.post(f"/v1/destinations/{record['id']}/test")
    assert (found.status_code, found.json()) == (
        200,
        {"result": "retry", "status_code": 500, "latency_ms": 12, "detail": "HTTP 500 sorry"},
    )


async def test_a_test_of_a_destination_without_an_actor_is_409(client: httpx.AsyncClient) -> None:
    record = await hooked(client, enabled=False)
    assert (await client.post(f"/v1/destinations/{record['id']}/test")).status_code == 409


async def test_attempts_are_listed_newest_first_and_count_as_failures(house: House, client: httpx.AsyncClient) -> None:
    record, work, lease = await hooked(client), house.storage.outbox, house.storage.lease
    hook = record["id"]
    (event,) = await house.publish("news")
    await work.enqueue([Match(hook, event.seq, NOW)], lease)
    await work.claim(hook, NOW, 1, lease)
    later = Millis(NOW + 5000)
    await work.settle([Outcome(hook, event.seq, "retry", NOW, 503, 7, "HTTP 503 <busy>", later)], lease)
    await work.claim(hook, later, 1, lease)
    await work.settle([Outcome(hook, event.seq, "sent", later, 204, 9)], lease)
    lines = (await client.get(f"/v1/destinations/{hook}/deliveries")).json()
    assert [line["result"] for line in lines] == ["sent", "retry"]
    assert lines[1] == {
        "webhook_id": ids([event])[0],
        "attempt": 1,
        "result": "retry",
        "at": "2026-05-28T20:26:40.000Z",
        "status_code": 503,
        "latency_ms": 7,
        "error": "HTTP 503 <busy>",
        "next_attempt_at": "2026-05-28T20:26:45.000Z",
        "response_excerpt": "",
    }
    assert len((await client.get(f"/v1/destinations/{hook}/deliveries?limit=1")).json()) == 1
    found = (await client.get(f"/v1/destinations/{hook}")).json()
    assert (found["failure_rate"], found["error_rate"]) == (0.5, 0.5)
    assert found["last_delivery_at"] == "2026-05-28T20:26:45.000Z"


async def test_d11_a_rotation_shows_the_new_secret_once_and_the_old_one_signs_for_a_day(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client)
    answer = await client.post(f"/v1/destinations/{record['id']}/rotate-secret")
    new = answer.json()["secret"]
    assert new.startswith("whsec_") and new != record["secret"]
    stored = await house.storage.alerts.destination(record["id"])
    assert stored is not None
    assert [each.value for each in stored.secrets] == [new, record["secret"]]
    until = stored.secrets[1].until
    assert stored.secrets[0].until is None and until is not None
    assert 0 <= house.context.world.now() + DAY - until < 60_000
    assert new not in (await client.get(f"/v1/destinations/{record['id']}")).text


async def test_an_imported_destination_can_resume_once_it_has_a_known_secret(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client)
    path = f"/v1/destinations/{record['id']}"
    await house.storage.alerts.edit_destination(
        record["id"], lambda it: replace(it, enabled=False, was_enabled=True, secrets=(Secret("whsec_unseen"),))
    )
    before = await client.get(path)
    assert (before.json()["needs_secret"], before.json()["state"]) == (True, "disabled")
    refused = await client.patch(path, json={"enabled": True})
    assert (refused.status_code, "Its secret is missing" in refused.json()["detail"]) == (409, True)
    made = (await client.post(f"{path}/rotate-secret")).json()
    assert (made["needs_secret"], made["enabled"]) == (False, False)
    stored = await house.storage.alerts.destination(record["id"])
    assert stored is not None
    assert [each.value for each in stored.secrets] == [made["secret"]]
    assert (await client.patch(path, json={"enabled": True})).json()["state"] == "active"


def test_d11_at_most_five_secrets_sign_and_expired_ones_are_dropped() -> None:
    secrets: tuple[Secret, ...] = (Secret("0"),)
    for number in range(1, 8):
        secrets = rotated(secrets, str(number), Millis(NOW + number))
    assert [secret.value for secret in secrets] == ["7", "6", "5", "4", "3"]
    assert [secret.until for secret in secrets] == [None, *(NOW + number + DAY for number in (7, 6, 5, 4))]
    assert [secret.value for secret in rotated(secrets, "new", Millis(NOW + 6 + DAY))] == ["new", "7", "6"]


async def test_a_full_disk_is_503_with_retry_after_and_changes_nothing(house: House, client: httpx.AsyncClient) -> None:
    record = await hooked(client)
    path = f"/v1/destinations/{record['id']}"
    house.storage.disk.full = True
    for method, url, body in (
        ("POST", "/v1/alerts", {"filter_query": "x"}),
        ("PATCH", f"/v1/alerts/{record['alert_id']}", {"name": "x"}),
        ("POST", f"/v1/alerts/{record['alert_id']}/destinations", HOOK),
        ("PATCH", path, {"label": "x"}),
        ("POST", f"{path}/rotate-secret", None),
        ("DELETE", path, None),
    ):
        answer = await client.request(method, url, json=body)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60"), url
        assert "nothing was written" in answer.json()["detail"]
    house.storage.disk.full = False
    assert len((await client.get("/v1/alerts")).json()) == 1
    assert (await client.get(path)).json()["label"] == "hook.test · price OR plan"


OWN = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="


async def test_a_secret_may_be_given_and_is_not_shown_again(house: House, client: httpx.AsyncClient) -> None:
    record = await hooked(client, secret=OWN)
    assert "secret" not in record
    (kept,) = await house.storage.alerts.destinations()
    assert [secret.value for secret in kept.secrets] == [OWN]


async def test_another_secret_signs_at_once_and_the_one_before_it_for_a_day(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await hooked(client)
    path = f"/v1/destinations/{record['id']}"
    changed = await client.patch(path, json={"secret": OWN})
    assert changed.status_code == 200 and "secret" not in changed.json()
    (kept,) = await house.storage.alerts.destinations()
    assert [(secret.value, secret.until is None) for secret in kept.secrets] == [(OWN, True), (record["secret"], False)]
    assert (await client.patch(path, json={"secret": OWN})).json()["revision"] == changed.json()["revision"]


async def test_a_secret_of_a_kind_that_signs_nothing_or_that_could_be_guessed_is_refused(
    client: httpx.AsyncClient,
) -> None:
    record = await hooked(client)
    alert = f"/v1/alerts/{record['alert_id']}/destinations"
    phone = {"kind": "ntfy", "options": {"topic": "prices-k3f9x2"}, "secret": OWN}
    assert (await client.post(alert, json=phone)).status_code == 422
    short = f"whsec_{'A' * 33}"  # not the base64 of whole bytes
    for answer in (
        await client.post(alert, json=HOOK | {"secret": short}),
        await client.patch(f"/v1/destinations/{record['id']}", json={"secret": short}),
    ):
        assert (answer.status_code, answer.json()["errors"][0]["location"]) == (422, "body.secret")
        assert short not in answer.text


async def test_a_record_names_its_last_editor_and_its_files(client: httpx.AsyncClient) -> None:
    mark = {"workspace": "shop", "name": "prices/hook", "applied": "url=5b0e6a3c"}
    record = await hooked(client, managed=mark)
    assert (record["managed"], record["updated_by"]) == (mark, "test")
    path = f"/v1/destinations/{record['id']}"
    assert (await client.patch(path, json={"label": "other"})).json()["managed"] == mark
    assert (await client.patch(path, json={"managed": None})).json()["managed"] is None
    wrong = await client.patch(path, json={"managed": {"workspace": "No!", "name": "x"}})
    assert wrong.status_code == 400
