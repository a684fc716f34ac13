"""Devices through the whole service: subscribed, notified, limited, gone. The push service can read nothing."""

from __future__ import annotations

import json

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.destination_kinds.kind import Service
from actors.egress.failures import PostResult
from actors.language.sentences import message_languages
from actors.notification.headline import notification_of
from actors.settings import Settings
from extras.webpush.encryption import LONGEST
from extras.webpush.key import push_key
from extras.webpush.kind import Push, answer_of, contact_of, payload_of
from tests.actors.test_delivering import HOUR, asked
from tests.api.house import BASE_URL
from tests.extras.webpush.coast import ENDPOINT, Coast
from tests.extras.webpush.test_vapid import claims
from tests.support.memory_network import Answer, web

SWEDISH = message_languages("en").language("sv")


async def test_a_device_is_notified_with_an_encrypted_message(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            made = await town.subscribed(client)
            town.titles.append("New prices")
            await trio.sleep(2 * HOUR)
            (message,) = town.pushed
            (event,) = (await client.get("/v1/events")).json()["events"]
            shown = town.shown()
            assert (shown["title"], shown["url"], shown["tag"], shown["lang"]) == (
                "New prices",
                f"/events/{event['id']}",
                event["id"],
                "en",
            )
            assert b"prices" not in message.body and (message.method, message.target) == (
                "POST",
                "/send/s3cret-0f-the-endpoint",
            )
            headers = message.headers
            assert (headers["content-encoding"], headers["ttl"], headers["urgency"]) == ("aes128gcm", "86400", "normal")
            assert len(headers["topic"]) == 32 and int(headers["content-length"]) == len(message.body) <= 4_096
            assert claims(headers["authorization"])["aud"] == "https://push.test"
            kept = await push_key(town.storage)
            assert kept is not None and headers["authorization"].endswith(f"k={kept.public}")
            seen = (await client.get(f"/v1/destinations/{made['id']}")).text
            for secret in ("s3cret", *town.device.options.values()):
                assert secret not in seen
            assert "https://push.test/…" in seen


async def test_a_retry_has_the_first_topic_and_is_encrypted_again(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            await town.subscribed(client)
            town.answers = [Answer(503), Answer(201)]
            town.titles.append("One")
            await trio.sleep(2 * HOUR)
            first, again = town.pushed
            assert first.headers["topic"] == again.headers["topic"] and town.shown(0) == town.shown(1)
            assert first.body[:16] != again.body[:16] and first.body[21:86] != again.body[21:86]
            town.titles.append("Two")
            await trio.sleep(2 * HOUR)
            assert town.pushed[-1].headers["topic"] != first.headers["topic"]


@pytest.mark.parametrize("status", [404, 410])
async def test_a_device_that_is_gone_is_left_alone_and_the_reason_is_a_sentence(
    autojump_clock: object, status: int
) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            made = await town.subscribed(client)
            town.answers = [Answer(status)]
            town.titles += ["One", "Two"]
            await trio.sleep(2 * HOUR)
            sent = len(town.pushed)
            town.titles.append("Three")
            await trio.sleep(2 * HOUR)
            assert 1 <= len(town.pushed) == sent <= 2
            where = f"/v1/destinations/{made['id']}"
            line = (await client.get(f"{where}/deliveries")).json()[-1]
            assert line["result"] == "given_up" and "no longer accepts notifications" in line["error"]
            assert (await client.get(where)).json()["state"] == "disabled"
            again = {"url": ENDPOINT, "options": town.device.options, "enabled": True}
            town.answers = [Answer(201)]
            assert (await client.patch(where, json=again)).json()["state"] == "active"
            assert (await client.post(f"{where}/test")).json()["result"] == "sent"


async def test_a_message_that_is_too_large_is_given_up_and_the_next_is_sent(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            made = await town.subscribed(client)
            town.answers = [Answer(413), Answer(201)]
            town.titles.append("One")
            await trio.sleep(HOUR)
            town.titles.append("Two")
            await trio.sleep(2 * HOUR)
            lines = (await client.get(f"/v1/destinations/{made['id']}/deliveries")).json()
            assert sorted(line["result"] for line in lines) == ["given_up", "sent"]
            assert any("no message of this size" in (line["error"] or "") for line in lines)


async def test_a_push_service_that_asks_for_fewer_is_given_the_time_it_asks_for(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            await town.subscribed(client)
            town.answers = [Answer(429, headers={"Retry-After": "1000"}), Answer(201)]
            town.titles.append("One")
            await trio.sleep(2 * HOUR)
            first, again = town.times
            assert again - first >= 999


async def test_a_test_and_a_digest_are_in_the_language_of_the_page(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            options = town.device.options | {"language": "sv", "urgency": "high"}
            made = await town.subscribed(client, options=options, delivery_mode="hourly")
            where = f"/v1/destinations/{made['id']}"
            assert (await client.post(f"{where}/test")).json()["result"] == "sent"
            shown = town.shown()
            assert (shown["title"], shown["lang"]) == ("En provavisering", "sv")
            assert shown["url"] == f"/destinations/{made['id']}"
            assert town.pushed[-1].headers["urgency"] == "high"
            town.titles += [f"Nyhet {number} om färjan till Ven" for number in range(60)]
            await trio.sleep(3 * HOUR)
            shown = town.shown()
            assert shown["title"] == "60 händelser från news.test"
            assert shown["url"] == f"/alerts/{made['alert_id']}"
            assert shown["body"].startswith("+ Nyhet ") and "http" not in shown["body"]
            *_, left, alert = shown["body"].splitlines()
            assert left.startswith("… och ") and left.endswith(" händelser till")
            assert alert == "Bevakning: Fares of the ferry"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"p256dh": "A" * 87}, "p256dh"),
        ({"p256dh": "short"}, "p256dh"),
        ({"auth": "A" * 21}, "auth"),
        ({"auth": ""}, "auth"),
        ({"urgency": "at once"}, "urgency"),
        ({"language": "Schwyzerdütsch"}, "language"),
    ],
)
async def test_an_invalid_subscription_is_refused_with_its_place(
    autojump_clock: object, options: dict[str, str], field: str
) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            body = {"kind": "webpush", "url": ENDPOINT, "options": town.device.options | options}
            answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json=body)
            assert answer.status_code == 422 and f"body.options.{field}" in answer.text
            assert town.device.options["auth"] not in answer.text


@pytest.mark.parametrize("url", ["https://10.0.0.7/send/x", "http://push.test/send/x", f"{BASE_URL}/send/x", "push"])
async def test_an_endpoint_is_untrusted_and_passes_the_guard(autojump_clock: object, url: str) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        town.network.add("push.test", "93.184.216.50", web(lambda asked: Answer(201), town.pushed), 80)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            body = {"kind": "webpush", "url": url, "options": town.device.options}
            answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json=body)
            assert answer.status_code == 422 and not town.pushed


async def test_an_endpoint_that_moves_inside_later_is_not_connected_to(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        async with town.running() as client:
            made = await town.subscribed(client)
            town.network.names["push.test"] = ["10.0.0.7"]
            found = (await client.post(f"/v1/destinations/{made['id']}/test")).json()
            assert found["result"] != "sent" and not town.pushed


async def test_concurrent_callers_make_one_key(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Coast(nursery)
        made = [Push(Service(town.world, town.storage, Settings())) for _ in range(2)]
        keys: list[str] = []

        async def ask(number: int) -> None:
            keys.append((await made[number % 2].key()).public)

        async with trio.open_nursery() as asking:
            for number in range(6):
                asking.start_soon(ask, number)
        kept = await push_key(town.storage)
        assert kept is not None and set(keys) == {kept.public}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("settings", "contact"),
    [
        (Settings(contact="mailto:a@b.example"), "mailto:a@b.example"),
        (Settings(contact="https://example.com/bot"), "https://example.com/bot"),
        (Settings(contact="ask at the desk", base_url="https://news.example.com"), "https://news.example.com"),
        (Settings(contact="ask at the desk"), ""),
    ],
)
def test_the_contact_has_the_form_that_push_services_require(settings: Settings, contact: str) -> None:
    assert contact_of(settings) == contact


@pytest.mark.parametrize(
    ("status", "verdict", "says"),
    [
        (201, None, ""),
        (400, "again", "does not accept our key"),
        (401, "again", "does not accept our key"),
        (403, "again", "does not accept our key"),
        (404, "revoked", "no longer accepts notifications"),
        (410, "revoked", "no longer accepts notifications"),
        (413, "refused", "no message of this size"),
        (429, "slow", "asks for fewer"),
        (500, None, "HTTP 500 oops"),
        (302, None, "HTTP 302"),
    ],
)
def test_an_answer_is_understood_as_the_rfc_lists_it(status: int, verdict: str | None, says: str) -> None:
    answer = answer_of(PostResult(status, 7, b"oops", 5.0))
    assert (answer.verdict, answer.delivered, answer.retry_after) == (verdict, status == 201, 5.0)
    assert says in (answer.error or "")
    assert verdict is None or SWEDISH.translate(answer.error or "") != answer.error


@given(
    title=st.text(st.sampled_from('a"\\\n😀é\u0001\u2028 '), max_size=400),
    text=st.text(st.sampled_from('a"\\\n😀é\u0001\u2028 '), max_size=6_000),
)
def test_any_report_fits_into_one_message(title: str, text: str) -> None:
    id = "01995a3e-0000-7000-8000-000000000000"
    body = json.dumps({"id": id, "title": title, "summary": text, "content": text, "url": "https://x.example/" + id})
    made = payload_of(notification_of(id, body.encode(), SWEDISH), "/", SWEDISH, "sv")
    assert len(made) <= LONGEST and json.loads(made)["url"] == f"/events/{id}"
    written = notification_of(id, body.encode())._replace(
        title=title[:120], written=text.encode()[:1_400].decode("utf-8", "ignore")
    )
    assert len(payload_of(written, "/", SWEDISH, "sv")) <= LONGEST
