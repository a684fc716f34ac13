"""The activity of every change: author, record, before and after; never a secret."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
import trio

from storage.records.access import ACTIVITY_LIFE, Activity
from storage.records.identity import Millis
from tests.api.dashboard.browser import PASSWORD, Browser
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.api.nouns.test_alerts import PRICES, made
from tests.extras.people.test_operations import ANNA, BO, add
from tests.extras.people.test_signing_in import a_person, signed_in
from tests.support.build import NOW, a_source_id

SECRETS = ("hunter2-header", "hunter2-hello", "hunter2-hook", "hunter2-bot", "hunter2-password-of-anna")


async def recorded(house: House) -> list[Activity]:
    return list(reversed(await house.storage.accounts.activity("~", 1000)))


def fields(body: bytes | None) -> dict[str, Any]:
    return {} if body is None else json.loads(body)


async def test_a_change_by_a_key_is_recorded_with_the_fields_that_differ(
    house: House, client: httpx.AsyncClient
) -> None:
    alert = await made(client)
    await trio.sleep(1)
    await client.patch(f"/v1/alerts/{alert['id']}", json={"name": "Fares"})
    await trio.sleep(1)
    await client.delete(f"/v1/alerts/{alert['id']}")
    create, change, delete = await recorded(house)
    path = f"/v1/alerts/{alert['id']}"
    assert [one.object for one in (create, change, delete)] == [path] * 3
    assert [one.operation for one in (create, change, delete)] == [
        "POST /v1/alerts",
        "PATCH /v1/alerts/{id}",
        "DELETE /v1/alerts/{id}",
    ]
    assert {one.by for one in (create, change, delete)} == {"test"}
    assert (create.before, fields(create.after)["name"]) == (None, alert["name"])
    assert (fields(change.before), fields(change.after)) == ({"name": alert["name"]}, {"name": "Fares"})
    assert (fields(delete.before)["name"], delete.after) == ("Fares", None)


async def test_a_new_and_a_deleted_source_show_only_what_differs_from_the_defaults(
    house: House, client: httpx.AsyncClient
) -> None:
    answer = await client.post(
        "/v1/sources", json={"url": "https://site1.test/feed", "tags": ["sea"], "enabled": False}
    )
    await trio.sleep(1)
    await client.delete(f"/v1/sources/{answer.json()['id']}")
    create, delete = await recorded(house)
    chosen = {"url": "https://site1.test/feed", "tags": ["label:sea"], "enabled": False}
    assert {name: one for name, one in fields(create.after).items() if name != "type"} == chosen
    assert fields(delete.before).keys() == fields(create.after).keys() and len(answer.json()) > 40


async def test_a_new_destination_shows_what_differs_and_a_check_is_no_change(
    house: House, client: httpx.AsyncClient
) -> None:
    alert, source = (
        await made(client),
        (await client.post("/v1/sources", json={"url": "https://site1.test/feed"})).json(),
    )
    await client.post(f"/v1/alerts/{alert['id']}/destinations", json={"url": "https://hooks.test/x", "label": "Team"})
    await client.post(f"/v1/sources/{source['id']}/check")
    by_operation = {one.operation: one for one in await recorded(house)}
    destination = by_operation.pop("POST /v1/alerts/{id}/destinations")
    assert by_operation.keys() == {"POST /v1/alerts", "POST /v1/sources"}
    assert {"url": "https://hooks.test/...", "label": "Team"}.items() <= fields(destination.after).items()
    assert len(fields(destination.after)) < 6


async def test_refused_and_repeated_calls_and_reads_are_not_recorded(house: House, client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "one"}
    for _ in range(2):
        await client.post("/v1/alerts", json=PRICES, headers=headers)
    await client.get("/v1/alerts")
    await client.post("/v1/alerts", json={"name": ""})
    await client.post("/v1/alerts/preview", json={"query": "price"})
    assert [one.operation for one in await recorded(house)] == ["POST /v1/alerts"]


async def test_a_change_in_the_dashboard_is_recorded_with_the_person(house: House, stranger: Browser) -> None:
    await a_person(house, "editor")
    await signed_in(stranger)
    await house.publish("one")
    await stranger.get("/publications/new")
    await stranger.submit("/publications/new", {"title": "Prices", "tags": "a"})
    await stranger.submit(f"{stranger.path}/delete", {"confirm": "delete"})
    create, delete = await recorded(house)
    assert {(one.person, one.by) for one in (create, delete)} == {(ANNA, "Anna")}
    assert create.object == delete.object and create.object.startswith("/v1/publications/")
    assert fields(create.after)["title"] == "Prices" == fields(delete.before)["title"]


async def test_a_person_and_a_key_are_records_too(house: House, browser: Browser) -> None:
    await add(house, BO, "reader")
    await browser.get(f"/people/{BO}")
    await browser.submit(f"/people/{BO}/role", {"role": "editor"})
    await browser.get("/keys/new")
    await browser.submit("/keys/new", {"name": "news", "scopes": ["stream:read"]})
    role, key = await recorded(house)
    assert (role.object, fields(role.before), fields(role.after)) == (
        f"/v1/people/{BO}",
        {"role": "reader"},
        {"role": "editor"},
    )
    assert key.object.startswith("/v1/keys/") and fields(key.after)["scopes"] == ["stream:read"]


async def test_no_secret_is_in_the_activity(house: House, client: httpx.AsyncClient, browser: Browser) -> None:
    header, hello, hook, bot, password = SECRETS
    shown: list[str] = list(SECRETS)

    async def sent(method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await client.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        found: dict[str, Any] = answer.json()
        return found

    source = await sent("POST", "/v1/sources", {"url": "https://a.test/", "headers": f"Cookie: a={header}"})
    await sent("PATCH", f"/v1/sources/{source['id']}", {"headers": f"Cookie: b={header}"})
    await sent("POST", "/v1/sources", {"url": "wss://a.test/live", "type": "push", "hello": hello})
    alert = await made(client)
    destinations = f"/v1/alerts/{alert['id']}/destinations"
    webhook = await sent("POST", destinations, {"url": f"https://hooks.example.com/{hook}"})
    shown.append(webhook["secret"])
    rotated = await sent("POST", f"/v1/destinations/{webhook['id']}/rotate-secret", {})
    shown.append(rotated["secret"])
    await sent("POST", destinations, {"kind": "telegram", "options": {"token": f"1:{bot}", "chat": "7"}})
    await sent("PATCH", f"/v1/destinations/{webhook['id']}", {"url": f"https://hooks.example.com/{hook}/2"})
    published = await sent("POST", "/v1/publications", {"title": "Prices"})
    shown.append(published["url"].rpartition("/")[2])
    moved = await sent("POST", f"/v1/publications/{published['id']}/address", {})
    shown.append(moved["url"].rpartition("/")[2])
    made_bin = await sent("POST", "/v1/webhook-bins", {})
    shown.append(made_bin["url"].rpartition("/")[2])
    invited = await sent("POST", "/v1/invitations", {"role": "reader"})
    shown.append(invited["url"].rpartition("#")[2])
    await client.delete(f"/v1/publications/{published['id']}")
    await client.delete(f"/v1/webhook-bins/{made_bin['id']}")
    joining = Browser(house)
    async with joining.client:
        await joining.get("/join")
        joined = {"code": shown[-1], "name": "Anna", "email": "anna@example.com"}
        await joining.submit("/join", joined | {"password": password, "again": password})
        assert joining.path == "/", joining.text
        await joining.get("/settings")
        new = f"{password} and more"
        await joining.submit("/settings/password", {"present": password, "password": new, "again": new})
    await browser.get("/keys/new")
    await browser.submit("/keys/new", {"name": "news", "scopes": ["stream:read"], "present": PASSWORD})
    rows = await recorded(house)
    assert len(rows) >= 12
    text = repr(rows)
    assert [secret for secret in shown if secret in text] == []
    hashes = [one.hashed for one in await house.storage.accounts.all()]
    assert [one for one in hashes if one in text] == [] and "svc_" + "A" * 9 not in text


async def test_old_activity_is_swept(house: House, client: httpx.AsyncClient) -> None:
    await made(client)
    await house.storage.accounts.sweep(Millis(NOW + ACTIVITY_LIFE + 10 * 86_400_000), 100)
    assert await recorded(house) == []


async def test_the_activity_page_shows_the_difference_and_filters(house: House, browser: Browser) -> None:
    await add(house, BO, "reader", name="<b>Bo</b>")
    await browser.get(f"/people/{BO}")
    await browser.submit(f"/people/{BO}/role", {"role": "editor"})
    await browser.get("/activity")
    assert "The owner made <b>Bo</b> editor" in browser.text and "reader → editor" in browser.text
    await browser.get(f"/activity?object=/v1/people/{BO}")
    assert "reader → editor" in browser.text
    await browser.get(f"/activity?person={BO}")
    assert "No change is recorded here." in browser.text
    for number in range(60):
        one = Activity(id=f"0{number:03}", at=NOW, person=BO, by="Bo", operation="POST /v1/alerts", object="/v1/a/1")
        await house.storage.accounts.record(one)
    await browser.get(f"/activity?person={BO}")
    await browser.get(str(browser.page.xpath("//a[@rel='next']/@href")[0]))
    assert len(browser.page.xpath("//main//ol/li")) == 10 and "Bo added the alert" in browser.text


@pytest.mark.parametrize("path", ["/activity?cursor=xyz", "/v1/activity?cursor=xyz"])
async def test_a_cursor_of_another_list_is_refused(browser: Browser, client: httpx.AsyncClient, path: str) -> None:
    asks = client.get(path) if path.startswith("/v1") else browser.get(path)
    assert (await asks).status_code == 400


async def test_an_invitation_and_joining_are_in_the_activity_in_words(house: House, browser: Browser) -> None:
    await browser.get("/people")
    await browser.submit("/people/invite", {"role": "editor", "email": "anna@example.com"})
    (link,) = set(re.findall(r"http://sanderling.test/join#[A-Za-z0-9_-]{43}", browser.answer.text))
    await trio.sleep(1)
    joining = Browser(house)
    async with joining.client:
        await joining.get("/join")
        joined = {"code": link, "name": "Anna", "email": "anna@example.com"}
        await joining.submit("/join", joined | {"password": PASSWORD, "again": PASSWORD})
    invite, join = await recorded(house)
    assert invite.object.startswith("/v1/invitations/") and fields(invite.after)["role"] == "editor"
    assert "url" not in fields(invite.after) or fields(invite.after)["url"] is None
    assert (join.by, join.object) == ("Anna", f"/v1/people/{join.person}") and fields(join.after)["role"] == "editor"
    await browser.get("/activity")
    assert "The owner invited anna@example.com as editor" in browser.text and "Anna joined as editor" in browser.text
    await browser.get("/activity", **{"Accept-Language": "sv"})
    assert "bjöd in anna@example.com som redaktör" in browser.text and "Anna gick med som redaktör" in browser.text


async def test_the_ticked_sources_of_a_form_are_recorded_before_and_after(house: House, browser: Browser) -> None:
    put(house, 1, title="Kettle")
    put(house, 2, title="Toaster")
    await browser.get("/sources")
    await browser.submit("/sources/many", {"act": "pause", "source": [a_source_id(1), a_source_id(2)]})
    (pause,) = await recorded(house)
    urls = [f"https://site{number}.test/feed" for number in (1, 2)]
    assert {f"{url} enabled": True for url in urls}.items() <= fields(pause.before).items()
    assert ({"act": "pause"} | {f"{url} enabled": False for url in urls}).items() <= fields(pause.after).items()


OPERATIONS = {
    "POST /v1/sources": "Bo added the source Kettle",
    "PATCH /v1/sources/{id}": "Bo changed the source Kettle",
    "POST /sources/{id}/pause": "Bo paused the source Kettle",
    "POST /sources/{id}/delete": "Bo deleted the source Kettle",
    "DELETE /v1/sources/{id}": "Bo deleted the source Kettle",
    "POST /sources/many": "Bo changed several sources",
    "POST /v1/destinations/{id}/rotate-secret": "Bo gave the destination Kettle a new secret",
    "POST /v1/alerts/{id}/destinations": "Bo added a destination to the alert Kettle",
    "POST /templates/{template_id}/attach": "Bo used the template Kettle",
    "POST /keys/new": "Bo added the API key Kettle",
    "GET /sign-in/proxy": "Bo joined as reader",
    "GET /sign-in/oidc/callback": "Bo joined as reader",
    "keys create": "Bo added the API key Kettle",
    "POST /never/heard-of": "Bo",
}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_operation_is_shown_in_words(house: House, browser: Browser, operation: str) -> None:
    after = b'{"name":"Kettle","role":"reader"}'
    one = Activity(id="01", at=NOW, person=BO, by="Bo", operation=operation, after=after)
    await house.storage.accounts.record(one)
    await browser.get("/activity")
    (said,) = browser.page.xpath("//main//ol/li/p[1]")
    assert " ".join(said.text_content().split()) == OPERATIONS[operation]
