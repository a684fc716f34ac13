"""Security finding 1: a change that does not repeat a sealed value never makes it go to a new place.

Generated for each record with sealed values, each writable field and each route. `before` and `after` are the requests
to receivers; sealed values in `after` may only go where they went in `before`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from actors.destination_kinds.contract import KindField
from actors.destination_kinds.kind import DeliveryPayload, DestinationKind, Service, of_source
from actors.destination_kinds.messengers.messenger import built_in
from actors.destination_kinds.table import NO_MAIL, kinds_of
from actors.egress.failures import PostMethod, PostResult
from actors.egress.url import Url
from actors.messages.requests import NewSource, SourcePatch
from actors.messages.sources import AddSource
from actors.settings import Settings
from api.fields.destinations import DestinationPatch
from storage.records.destination import WEBPUSH, Destination, Private
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.rows import HOOK, a_hook
from tests.api.house import House, make_house, running

HERE = make_house()
KINDS = {
    id: kind
    for id, kind in kinds_of(built_in(), NO_MAIL, Service(HERE.context.world, HERE.storage, Settings())).items()
    if any(field.private for field in kind.fields)
}
ELSEWHERE = "https://elsewhere.test/steal"
LETTERS = "s3cr3t" * 5
"""30 characters that do not occur by chance."""
OTHERS = {"token": "123456:" + LETTERS, "key": f"{LETTERS}ab", "headers": f"X-Api-Key: {LETTERS}", "bot": "a@b.test"}
TYPED: Mapping[str, Any] = {
    "url": ELSEWHERE,
    "delivery_mode": "hourly",
    "label": "Another",
    "digest_hour": 9,
    "digest_timezone": "Europe/Stockholm",
    "enabled": False,
    "quiet_hours": {"from": "22:00", "to": "07:00"},
    "format": "cloudevents",
    "most_at_once": 5,
    "secret": "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ==",
    "managed": {"workspace": "shop", "name": "hook", "applied": ""},
    "replay_from": None,
}
"""A value for each field except the options; a form lacks the fields that only the API takes."""
FORM = ("url", "delivery_mode", "label", "digest_hour", "digest_timezone", "format", "most_at_once")


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house()) as house:
        yield house


class Receivers:
    """All receivers at all addresses; records each request."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    @property
    def deliver(self) -> Receivers:
        return self

    deliver_plain = deliver

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        self.seen.append((url.text, f"{url.text} {dict(headers)} {body.decode()}"))
        return PostResult(200, 1, b"{}", None)


def value_of(field: KindField, *, other: bool = False) -> str:
    """Return a valid value of a field; other: a different one."""
    tries = (OTHERS.get(field.name, ""), f"{LETTERS}AB", LETTERS, field.example, "1", "-1", "P1", "info", "high", "en")
    fits = [text for text in tries if text and re.fullmatch(field.pattern or ".*", text)]
    assert fits, f"a value for {field.name}"
    if field.private or not other:
        return fits[0]
    changed = re.sub(r"[a-z](?=[^a-z]*$)", lambda found: "q" if found[0] != "q" else "z", fits[0])
    return changed if re.fullmatch(field.pattern or ".*", changed) else fits[-1]


async def stored(house: House, kind: DestinationKind) -> Destination:
    """Store a destination with a value for each field."""
    fields = [field for field in kind.fields if field.name not in ("username", "password", "language")]
    fields = [field for field in fields if not field.name.startswith("message")]
    private = {field.name: Private(value_of(field)) for field in fields if field.private}
    options = {field.name: value_of(field) for field in fields if not field.private}
    address = kind.address.default or kind.address.example
    return await a_hook(
        house, kind=kind.id, url=address, options=options, private=private, private_names=tuple(private)
    )


async def leaving(house: House, kind: DestinationKind) -> list[tuple[str, bool]]:
    """Send an event; return the address of each request and whether it contained a sealed value."""
    found = await house.storage.alerts.destination(HOOK)
    assert found is not None
    receivers, sealed = Receivers(), list[str]()
    for private in found.private.values():
        sealed += [private.value, quote(private.value, safe=""), private.value.partition(": ")[2]]
        sealed += [base64.b64encode(f"{user}:{private.value}".encode()).decode() for user in found.options.values()]
    (event,) = await house.publish("Price is 12")
    await kind.send(receivers, found, DeliveryPayload(HOOK, event.body), house.context.world)  # type: ignore[arg-type]
    return [(url, any(one and one in text for one in sealed)) for url, text in receivers.seen]


def writes(kind: DestinationKind) -> dict[str, dict[str, Any]]:
    """Return a change of each field and each open option, without sealed values."""
    open_fields = [field for field in kind.fields if not field.private and field.name != "password"]
    options = {f"options.{field.name}": value_of(field, other=True) for field in open_fields}
    return {name: {name: value} for name, value in (TYPED | options).items()}


def body_of(change: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, value in change.items():
        if name.startswith("options."):
            body.setdefault("options", {})[name.removeprefix("options.")] = value
        else:
            body[name] = value
    return body


def test_every_field_of_a_change_is_tried() -> None:
    assert {*TYPED, "options"} == set(DestinationPatch.__struct_fields__)


@pytest.mark.parametrize("kind", [kind for id, kind in KINDS.items() if id != WEBPUSH], ids=lambda kind: kind.id)
async def test_no_field_of_a_destination_sends_a_sealed_value_to_another_host(
    house: House, kind: DestinationKind
) -> None:
    browser = await signed_in(house)
    async with await house.client() as client:
        for name, change in writes(kind).items():
            roads = ["api", *(["dashboard"] if name in FORM or name.startswith("options.") else [])]
            for road in roads:
                await stored(house, kind)
                before = await leaving(house, kind)
                assert any(sealed for _, sealed in before) or kind.id in ("lark", "dingtalk"), "the test sees nothing"
                says = await (over_api(client, change) if road == "api" else over_dashboard(browser, change))
                known, after = {url for url, _ in before}, await leaving(house, kind)
                assert [url for url, sealed in after if sealed and url not in known] == [], (name, road)
                if name == "url" or name.removeprefix("options.") in kind.in_path:
                    assert "again: the stored value" in says, (name, road)
                    assert after == before, "nothing of it was changed"


async def over_api(client: httpx.AsyncClient, change: Mapping[str, Any]) -> str:
    return (await client.patch(f"/v1/destinations/{HOOK}", json=body_of(change))).text


async def over_dashboard(browser: Browser, change: Mapping[str, Any]) -> str:
    await browser.get(f"/destinations/{HOOK}/edit")
    await browser.submit(f"/destinations/{HOOK}/edit", {name: str(value) for name, value in change.items()})
    return browser.text


@pytest.mark.parametrize("kind", [KINDS["webhook"], KINDS["matrix"]], ids=lambda kind: kind.id)
async def test_the_address_may_change_if_the_secret_is_sent_again_or_removed(
    house: House, kind: DestinationKind
) -> None:
    await stored(house, kind)
    names = [field.name for field in kind.fields if field.private and field.name != "password"]
    async with await house.client() as client:
        path = f"/v1/destinations/{HOOK}"
        again = {name: value_of(field) for field in kind.fields if (name := field.name) in names}
        assert (await client.patch(path, json={"url": ELSEWHERE, "options": again})).status_code == 200
        assert all(sealed and url.startswith(ELSEWHERE) for url, sealed in await leaving(house, kind))
        if kind.id == "webhook":
            gone = {"url": "https://third.test/", "options": dict.fromkeys(names)}
            assert (await client.patch(path, json=gone)).status_code == 200


async def test_a_devices_keys_are_named_with_its_endpoint(house: House) -> None:
    kind = KINDS[WEBPUSH]
    private = {name: Private(f"{name}-{LETTERS}") for name in ("p256dh", "auth")}
    await a_hook(house, kind=kind.id, url="https://push.test/…", private=private, private_names=tuple(private))
    async with await house.client() as client:
        answer = await client.patch(f"/v1/destinations/{HOOK}", json={"url": ELSEWHERE})
    assert answer.status_code == 422 and LETTERS not in answer.text


WISHES: Mapping[str, Any] = {
    "type": "html",
    "enabled": False,
    "tags": ["topic:x"],
    "selector": "main",
    "ignore": [".x"],
    "filter": "x",
    "subprotocols": ["x"],
    "hello": "x",
    "replies": ["a -> b"],
    "headers_for": ["elsewhere.test"],
    "render": "never",
    "wait_for": "main",
    "screenshots": True,
    "schedule": "10m",
    "hours": "weekdays 08-18 UTC",
    "bar": 0.4,
    "follow": "new_links",
    "follow_hosts": ["elsewhere.test"],
    "own_only": ["hours"],
    "title": "Another",
    "managed": {"workspace": "shop", "name": "hook", "applied": ""},
}


def test_every_field_of_a_source_is_tried() -> None:
    assert {*WISHES, "headers"} == set(SourcePatch.__struct_fields__)


async def test_no_field_of_a_source_sends_its_headers_to_another_host(house: House) -> None:
    new = NewSource("https://members.test/", type="html", headers=f"Cookie: {LETTERS}", headers_for=("members.test",))
    added = await house.registry.mailbox.ask(lambda reply: AddSource(new, reply))
    id, browser = added.view.source.id, await signed_in(house)
    before = of_source(added.view.source)
    async with await house.client() as client:
        for name, value in WISHES.items():
            answer = await client.patch(f"/v1/sources/{id}", json={name: value})
            await browser.get(f"/sources/{id}/edit")
            typed = value if isinstance(value, str) else "\n".join(value) if isinstance(value, list) else None
            if typed is not None:
                await browser.submit(f"/sources/{id}/edit", {name: typed})
            after = of_source(house.registry.views[id].source)
            assert not after.names or after.places <= before.places, name
            if name == "headers_for":
                assert answer.status_code == 422 and "given for https://members.test" in answer.text
                assert "again: the stored value" in browser.text
        named = {"headers_for": ["elsewhere.test"], "headers": "Cookie: new"}
        assert (await client.patch(f"/v1/sources/{id}", json=named)).status_code == 200
