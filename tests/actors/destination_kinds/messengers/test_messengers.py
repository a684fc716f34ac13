"""Every messenger through the whole service: created by the API, notified, rate-limited, refused, revoked."""

from __future__ import annotations

import json
from collections.abc import Callable

import jinja2
import msgspec
import pytest
import trio

from actors.destination_kinds.contract import Answer as Attempted
from actors.destination_kinds.kind import masked
from actors.destination_kinds.messengers.kind import answer_of
from actors.destination_kinds.messengers.messenger import built_in
from actors.egress.failures import PostResult
from storage.records.destination import Private
from tests.actors.destination_kinds.messengers.peers import PEERS, Peer
from tests.actors.test_delivering import HOUR, Town, asked
from tests.storage.contract.builders import a_destination
from tests.support.memory_network import Answer, ReceivedRequest, web

MESSENGERS = {messenger.id: messenger for messenger in built_in()}
TITLE = "Prices: @everyone *all* <b>fares</b> rise & `fall`"


class Square(Town):
    """A town whose receiver is one messenger. It gives its answers in turn and repeats the last."""

    def __init__(self, nursery: trio.Nursery, peer: Peer, *answers: Answer) -> None:
        super().__init__(nursery)
        self.peer, self.answers, self.texts = peer, list(answers), list[str]()
        self.times: list[float] = []
        self.network.add("hook.test", "93.184.216.35", web(self._take, self.arrived), 443)

    def _take(self, request: ReceivedRequest) -> Answer:
        self.texts.append(self.peer.read(request))
        self.times.append(trio.current_time())
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_each_messenger_has_a_peer() -> None:
    assert MESSENGERS.keys() == PEERS.keys()


@pytest.mark.parametrize("name", sorted(PEERS))
async def test_a_person_is_notified_slowly_on_request_and_no_more_once_revoked(
    autojump_clock: object, name: str
) -> None:
    peer = PEERS[name]
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.slow, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, kind=name, url=peer.url, options=dict(peer.options))
            assert (made["kind"], "secret" in made) == (name, False)
            town.titles.append(TITLE)
            await trio.sleep(HOUR / 3)
            assert len(town.texts) == 2 and town.texts[0] == town.texts[1]
            assert "Prices" in town.texts[0] and "fares" in town.texts[0]
            assert town.times[1] - town.times[0] >= peer.slow_for - 0.01
            where = f"/v1/destinations/{made['id']}"
            lines = (await client.get(f"{where}/deliveries")).json()
            assert [line["result"] for line in lines] == ["sent", "retry"]
            town.answers = [peer.revoked]
            town.titles.append("Another")
            await trio.sleep(HOUR / 3)
            found = (await client.get(where)).json()
            (line, *_) = (await client.get(f"{where}/deliveries")).json()
            assert (found["state"], line["result"]) == ("disabled", "given_up"), line
            assert "no longer valid" in line["error"] and len(town.texts) == 3
            everything = json.dumps([made, found, lines, line, (await client.get("/v1/destinations")).json()])
            assert "k3y0f" not in everything and "u0f" not in everything


@pytest.mark.parametrize("name", sorted(name for name, peer in PEERS.items() if peer.refused is not None))
async def test_a_message_that_is_refused_is_given_up_and_the_next_one_is_sent(
    autojump_clock: object, name: str
) -> None:
    peer = PEERS[name]
    assert peer.refused is not None
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.refused, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, kind=name, url=peer.url, options=dict(peer.options))
            town.titles += ["One", "Two"]
            await trio.sleep(HOUR / 3)
            where = f"/v1/destinations/{made['id']}"
            lines = (await client.get(f"{where}/deliveries")).json()
            assert sorted(line["result"] for line in lines) == ["given_up", "sent"], lines
            assert "does not take this message" in next(line["error"] for line in lines if line["error"])
            assert (await client.get(where)).json()["state"] == "active"


@pytest.mark.parametrize("name", sorted(PEERS))
async def test_a_test_and_a_digest_of_many_read_well(autojump_clock: object, name: str) -> None:
    peer = PEERS[name]
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            options = dict(peer.options)
            made = await asked(client, path, kind=name, url=peer.url, options=options, delivery_mode="hourly")
            found = await asked(client, f"/v1/destinations/{made['id']}/test")
            assert found["result"] == "sent" and "Test delivery" in town.texts.pop()
            town.titles += [f"Notice number {number}" for number in range(40)]
            await trio.sleep(2 * HOUR)
            (text,) = town.texts
            assert "40 events of news" in text and "Notice number 39" in text
            assert "Notice number 0 " in text or "more events" in text.replace("\\", "")


def spoiled(peer: Peer, **options: str) -> dict[str, str]:
    return dict(peer.options) | options


BAD: list[tuple[str, Callable[[Peer], dict[str, object]], str]] = [
    ("ntfy", lambda peer: {"url": "https://10.0.0.1"}, "address-private"),
    ("ntfy", lambda peer: {"options": spoiled(peer, topic="a b")}, "body.options.topic"),
    ("ntfy", lambda peer: {"options": spoiled(peer, token="a\r\nX-Evil: 1")}, "body.options.token"),
    ("ntfy", lambda peer: {"options": spoiled(peer, tokne="x")}, "body.options.tokne"),
    ("telegram", lambda peer: {"options": {"chat": "1"}}, "body.options.token"),
    ("telegram", lambda peer: {"options": spoiled(peer, chat="x" * 5000)}, "body.options"),
    ("slack", lambda peer: {"url": None}, "body.url"),
    ("carrier-pigeon", lambda peer: {}, "body.kind"),
    ("Slack!", lambda peer: {}, "body.kind"),
    ("webhook", lambda peer: {"options": {"headers": "Host: evil"}}, "body.options.headers"),
    ("webhook", lambda peer: {"options": {"headers": "webhook-id: 1"}}, "body.options.headers"),
    ("webhook", lambda peer: {"options": {"token": "a", "username": "b"}}, "body.options.token"),
]


@pytest.mark.parametrize(("kind", "change", "says"), BAD)
async def test_errors_name_their_place_and_never_repeat_a_secret(
    autojump_clock: object, kind: str, change: Callable[[Peer], dict[str, object]], says: str
) -> None:
    peer = PEERS.get(kind, PEERS["ntfy"])
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            options = dict(peer.options) if kind in PEERS else {}
            body = {"kind": kind, "url": peer.url, "options": options} | change(peer)
            answer = await client.post(
                f"/v1/alerts/{alert['id']}/destinations", json={k: v for k, v in body.items() if v is not None}
            )
            assert answer.status_code in (400, 422) and says in answer.text, answer.text
            assert "k3y0f" not in answer.text and "Evil" not in answer.text


async def test_a_webhook_gets_its_sealed_headers_and_its_signature(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            options = {"username": "anna", "password": "k3y0fAnna", "headers": "X-Api-Key: k3y0fHeader\nX-Team:  web"}
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, url="https://hook.test/in", options=options)
            assert (made["options"], made["private"]) == ({"username": "anna"}, ["headers", "password"])
            town.titles.append("News")
            await trio.sleep(HOUR / 3)
            (arrival,) = town.arrived
            assert arrival.headers["authorization"] == "Basic YW5uYTprM3kwZkFubmE="
            assert (arrival.headers["x-api-key"], arrival.headers["x-team"]) == ("k3y0fHeader", "web")
            where = f"/v1/destinations/{made['id']}"
            wanted = {"username": None, "password": None, "token": "k3y0fToken"}
            changed = (await client.patch(where, json={"options": wanted})).json()
            assert (changed["options"], changed["private"]) == ({}, ["headers", "token"])
            town.titles.append("More")
            await trio.sleep(HOUR / 3)
            assert town.arrived[1].headers["authorization"] == "Bearer k3y0fToken"
            assert town.arrived[1].headers["x-api-key"] == "k3y0fHeader"


async def test_a_bin_hides_credentials_of_a_delivery(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            bin = await asked(client, "/v1/webhook-bins")
            alert = await asked(client, "/v1/alerts", filter_query="")
            options = {"token": "k3y0fToken", "headers": "X-Api-Key: k3y0fHeader"}
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, url=bin["url"], options=options)
            assert (await asked(client, f"/v1/destinations/{made['id']}/test"))["result"] == "sent"
            captures = (await client.get(f"/v1/webhook-bins/{bin['id']}/captures")).text
            assert "webhook-signature" in captures and "x-api-key" in captures and "[hidden]" in captures
            assert "k3y0f" not in captures


async def test_a_secret_repeated_by_a_receiver_is_hidden(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        peer = PEERS["telegram"]
        echo = Answer(500, b"cannot POST /bot123:k3y0fTelegram/sendMessage, /bot123%3Ak3y0fTelegram/")
        town = Square(nursery, peer, echo)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, kind="telegram", url=peer.url, options=dict(peer.options))
            found = await asked(client, f"/v1/destinations/{made['id']}/test")
            assert found["status_code"] == 500 and found["detail"].count("[hidden]") == 2
            assert "k3y0f" not in json.dumps(found)
            for room in range(150, 215):  # wherever the shown part ends
                town.answers = [Answer(500, b"." * room + b" 123:k3y0fTelegram")]
                found = await asked(client, f"/v1/destinations/{made['id']}/test")
                assert "123:k3" not in json.dumps(found), found


def test_a_name_and_password_are_hidden_as_they_are_sent() -> None:
    hook = a_destination(options={"username": "anna"}, private={"password": Private("k3y0fAnna")})
    said = masked(Attempted(401, 1, "HTTP 401 Basic YW5uYTprM3kwZkFubmE="), hook)
    assert said.error == "HTTP 401 Basic [hidden]"


@pytest.mark.parametrize(("most", "messages"), [(None, 1), (0, 30), (29, 1), (30, 30)])
async def test_a_person_gets_one_message_for_many_events_at_once(
    autojump_clock: object, most: int | None, messages: int
) -> None:
    peer = PEERS["ntfy"]
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            more = {} if most is None else {"most_at_once": most}
            options = dict(peer.options)
            made = await asked(client, path, kind="ntfy", url=peer.url, options=options, **more, enabled=False)
            assert made["most_at_once"] == (20 if most is None else most)
            town.titles += [f"Notice number {number}" for number in range(30)]
            where = f"/v1/destinations/{made['id']}"
            await client.patch(where, json={"enabled": True, "quiet_hours": {"from": "00:00", "to": "23:59"}})
            await trio.sleep(HOUR / 3)
            assert town.texts == []
            await client.patch(where, json={"quiet_hours": None})
            await trio.sleep(HOUR)
            assert len(town.texts) == messages
            told = "\n".join(town.texts)
            assert "30 events of news.test" in told if messages == 1 else "Notice number 7" in told
            assert (await client.get(where)).json()["state"] == "active"


@pytest.mark.parametrize("name", sorted(PEERS))
async def test_a_destination_gets_the_text_of_its_template(autojump_clock: object, name: str) -> None:
    peer = PEERS[name]
    message = "Dear reader, {{ title }} ({{ count }}) {{ link }}"
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            options = dict(peer.options) | {"message": message, "message_title": "News of {{ host }}"}
            path = f"/v1/alerts/{alert['id']}/destinations"
            made = await asked(client, path, kind=name, url=peer.url, options=options)
            town.titles.append("Fares")
            await trio.sleep(HOUR / 3)
            (text,) = town.texts
            assert "Dear reader, Fares" in text.replace("\\", "") and "(1)" in text.replace("\\", "")
            assert (made["options"]["message"], made["options"]["message_title"]) == (message, "News of {{ host }}")


async def test_a_template_that_fails_costs_no_message_and_says_so(autojump_clock: object) -> None:
    peer = PEERS["ntfy"]
    message = "{{ title }}{% if title == 'Fares' %}{{ 1 / 0 }}{% endif %}"
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            # saving tries the message on samples, which have such a title too
            options = dict(peer.options) | {"message": message.replace("Fares", "Rates")}
            await asked(client, f"/v1/alerts/{alert['id']}/destinations", kind="ntfy", url=peer.url, options=options)
            town.titles.append("Rates")
            await trio.sleep(HOUR / 3)
            (text,) = town.texts
            assert "Rates" in text and "The message template of this destination failed" in text
            assert "division by zero" in text


@pytest.mark.parametrize("status", [302, 400, 503])
def test_an_error_body_with_status_200_is_no_success(status: int) -> None:
    telegram = MESSENGERS["telegram"]
    assert answer_of(telegram, PostResult(200, 1, b'{"ok":true}', None)).delivered
    found = answer_of(telegram, PostResult(status, 1, b'{"ok":true}', None))
    assert not found.delivered and found.error


def test_an_answer_is_understood_as_the_service_lists_it(subtests: pytest.Subtests) -> None:
    for kind, status, said, verdict in (
        # From lists of Telegram's errors.
        ("telegram", 400, "Bad Request: group chat was upgraded to a supergroup chat", "revoked"),
        ("telegram", 400, "Bad Request: group is deactivated", "revoked"),
        ("telegram", 400, "Bad Request: have no rights to send a message", "revoked"),
        ("telegram", 400, "Bad Request: CHAT_WRITE_FORBIDDEN", "revoked"),
        ("telegram", 403, "Forbidden: user is deactivated", "revoked"),
        ("telegram", 400, "Bad Request: can't parse entities", "refused"),
        # From Opsgenie's page of response codes: the account's plan does not allow this.
        ("opsgenie", 402, "payment required", "revoked"),
        ("opsgenie", 422, "Message can not be empty.", "refused"),
    ):
        with subtests.test(kind, said=said):
            body = msgspec.json.encode({"ok": False, "description": said, "message": said})
            assert answer_of(MESSENGERS[kind], PostResult(status, 1, body, None)).verdict == verdict


SEEN: list[tuple[str, int, object, str | None]] = [
    # Observed answers of the services; where one code has two meanings, its text decides.
    ("mattermost", 400, {"id": "web.incoming_webhook.invalid.app_error", "message": "Invalid webhook."}, "revoked"),
    ("mattermost", 400, {"id": "web.incoming_webhook.text.app_error", "message": "No text specified."}, "refused"),
    ("mattermost", 501, {"id": "web.incoming_webhook.disabled.app_error", "message": "Disabled."}, None),
    ("rocketchat", 400, {"success": False, "error": "Invalid integration id or token provided."}, "revoked"),
    ("rocketchat", 200, {"success": False, "error": "Invalid integration id or token provided."}, "revoked"),
    ("rocketchat", 200, {"success": False, "error": "unknown-error"}, "again"),
    ("rocketchat", 503, "Service Unavailable", None),
    ("lark", 200, {"code": 11232, "data": {}, "msg": "frequency limited psm[lark.oapi.x]appID[1500]"}, "slow"),
    ("lark", 200, {"code": 9499, "data": {}, "msg": "too many request"}, "slow"),
    ("lark", 200, {"code": 9499, "data": {}, "msg": "Bad Request"}, "refused"),
    ("lark", 200, {"StatusCode": 9499, "StatusMessage": "fail to parse content"}, "refused"),
    ("lark", 200, {"StatusCode": 0, "StatusMessage": "success", "Extra": None}, "delivered"),
    ("lark", 200, "<html>sign in</html>", "again"),
    ("dingtalk", 500, {"errcode": 130101, "errmsg": "send too fast, exceed 20 times per minute"}, "slow"),
    ("dingtalk", 200, {"errcode": 410100, "errmsg": "too many requests"}, "slow"),
    ("dingtalk", 200, {"errcode": 90030, "errmsg": "webhook over limit"}, "slow"),
    ("dingtalk", 200, {"errcode": 300001, "errmsg": "token is not exist"}, "revoked"),
    ("dingtalk", 200, {"errcode": 300001, "errmsg": "param error"}, "refused"),
    ("dingtalk", 200, {"errcode": 40035, "errmsg": "缺少参数 access_token"}, "revoked"),
    ("dingtalk", 200, {"errcode": 310000, "errmsg": "keywords not in content"}, "revoked"),
    ("dingtalk", 200, "<html>sign in</html>", "again"),
    ("wecom", 200, {"errcode": 93000, "errmsg": "invalid webhook url, hint: [1], from ip: 1.2.3.4"}, "revoked"),
    ("wecom", 200, {"errcode": 93000, "errmsg": "Invalid input : content exceed max length."}, "refused"),
    ("wecom", 200, {"errcode": 40058, "errmsg": "invalid param 'key', hint: [1]"}, "revoked"),
    ("wecom", 200, {"errcode": 40058, "errmsg": "text.content exceed max length 2048."}, "refused"),
    ("wecom", 200, {"errcode": 45033, "errmsg": "api concurrent out of limit"}, "slow"),
    ("wecom", 200, "<html>sign in</html>", "again"),
    ("pagerduty", 400, {"status": "invalid key", "errors": ["Invalid routing key"]}, "revoked"),
    ("teams", 400, {"error": {"code": "WorkflowTriggerIsNotEnabled", "message": "state 'Deleted'"}}, "revoked"),
    ("teams", 404, {"error": {"code": "WorkflowNotFound", "message": "not found"}}, "revoked"),
    ("signal", 400, {"error": 'Failed to send: Unregistered user "+46700000001"'}, "revoked"),
    ("signal", 400, {"error": "Specified account does not exist"}, "revoked"),
    ("signal", 400, {"error": "Failed: [413] Rate limit exceeded: 413"}, "slow"),
    ("google-chat", 400, {"error": {"code": 400, "message": "API key not valid. Pass another."}}, "revoked"),
    ("home-assistant", 400, "400: Bad Request", "revoked"),
    ("pushover", 400, {"user": "invalid", "errors": ["user identifier is not valid"], "status": 0}, "revoked"),
    ("zulip", 401, {"code": "USER_DEACTIVATED", "msg": "Account is deactivated", "result": "error"}, "revoked"),
    ("zulip", 400, {"code": "STREAM_DOES_NOT_EXIST", "msg": "no such stream", "result": "error"}, "revoked"),
    (
        "matrix",
        401,
        {"errcode": "M_USER_LOCKED", "error": "This account is locked", "soft_logout": True},
        "revoked",
    ),
    ("matrix", 400, {"errcode": "M_NOT_FOUND", "error": "Unknown room"}, "revoked"),
    ("gotify", 403, {"error": "Forbidden", "errorDescription": "you are not allowed"}, "revoked"),
    ("ntfy", 429, {"code": 42908, "http": 429, "error": "limit reached: too many messages"}, "slow"),
]


def test_an_answer_is_understood_as_it_has_been_seen(subtests: pytest.Subtests) -> None:
    for kind, status, body, verdict in SEEN:
        with subtests.test(kind, body=str(body)):
            sent = body.encode() if isinstance(body, str) else msgspec.json.encode(body)
            found = answer_of(MESSENGERS[kind], PostResult(status, 1, sent, None))
            assert (found.verdict, found.delivered) == (verdict, verdict == "delivered")


async def test_a_page_runs_no_template_of_home_assistant(autojump_clock: object) -> None:
    peer = PEERS["home-assistant"]
    title = "{{ states('lock.door') }} {% for x in range(9) %}{# {{{ #}"
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            await asked(client, path, kind="home-assistant", url=peer.url, options=dict(peer.options))
            town.titles.append(title)
            await trio.sleep(HOUR / 3)
    (text,) = town.texts
    shown = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render()
    assert title in shown.replace("\u2060", "")
